"""A hook of mkdocs. Links of the documents that lead out of docs/ become links into the repository, and every link must have a target.
The Javadoc that ./mvnw -Psite has made is copied beside the pages."""
import glob
import html.parser
import os
import posixpath
import re
import shutil
import urllib.parse

from mkdocs.exceptions import PluginError

REPOSITORY = "https://github.com/penstock/penstock/tree/main/"
LINK = re.compile(r"(\]\()([^)#:\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_path))

    def outside(link):
        target = posixpath.normpath(posixpath.join(folder, link.group(2)))
        if target.startswith("docs/") and files.get_file_from_path(target[len("docs/"):]):
            return link.group(0)
        if not os.path.exists(target):
            raise PluginError(f"{page.file.src_path}: no {target}")
        return f"]({REPOSITORY}{target}{link.group(3) or ''})"

    return LINK.sub(outside, markdown)


def on_page_content(content, page, config, files):
    """Gives the page of options a class, by which docs/assets/site.css lays its tables out."""
    return f'<div class="options">{content}</div>' if page.file.src_path == "options.md" else content


class Anchors(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.add(values.get("id"))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])


def on_post_build(config):
    site = config["site_dir"]
    javadoc = os.path.join(os.path.dirname(site), "javadoc")
    if os.path.isdir(javadoc):
        shutil.copytree(javadoc, site, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.stale"))
        for style in glob.glob(os.path.join(site, "apidocs*", "**", "stylesheet.css"), recursive=True):
            with open(style, encoding="utf-8") as file:
                text = file.read()
            with open(style, "w", encoding="utf-8") as file:  # imports fonts that the JDKs of distributions do not have
                file.write(re.sub(r"@import url\('resources/fonts/.*\n", "", text))
    pages = {}
    for folder, _, names in os.walk(site):
        if os.path.relpath(folder, site).split(os.sep)[0].startswith("apidocs"):
            continue
        for name in names:
            if name.endswith(".html") and name != "404.html":
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    pages[path] = Anchors(file.read())
    broken = []
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(url.path))) if url.path else path
            anchor = urllib.parse.unquote(url.fragment)
            if target in pages:
                if anchor and anchor not in pages[target].ids:
                    broken.append(f"{os.path.relpath(path, site)}: {link}")
            elif not os.path.exists(target) and "apidocs" not in link:
                broken.append(f"{os.path.relpath(path, site)}: {link}")
    if broken:
        raise PluginError("broken links:\n" + "\n".join(sorted(set(broken))))
