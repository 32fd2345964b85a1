/** A page of the site before it is rendered. */
export interface SitePage {
  /** Where it stands: `in-your-application`; the start page is ``. */
  readonly slug: string
  readonly title: string
  readonly description: string
  /** Markdown. Links are addresses that hold on the site. */
  readonly body: string
  /** Path of the file that it is made from, relative to the root of the repository. */
  readonly path?: string
  /** The first one that visitors see: without a list of its headings. */
  readonly isStart?: boolean
  /** With code beside code, and so without a list of its headings. */
  readonly isWide?: boolean
  /** Short enough to need no list of its headings. */
  readonly isShort?: boolean
  /** Not found by the search: a file that somebody came to by a link. */
  readonly isSource?: boolean
  /** Modules of `live` that bring it to life. */
  readonly scripts?: readonly string[]
}

/** A page as a file that Starlight reads. `repository`: address of the repository, for links to change pages there. Pure. */
export function contentFile(
  { slug, title, description, body, path, isStart, isShort, isSource, isWide, scripts = [] }: SitePage,
  repository?: string,
): string {
  const front: Readonly<Record<string, unknown>> = {
    title,
    description,
    ...(slug === '' ? {} : { slug }),
    ...(isStart === true ? { tableOfContents: false, isStart } : {}),
    ...(isShort === true ? { tableOfContents: false } : {}),
    ...(isSource === true ? { pagefind: false, tableOfContents: false } : {}),
    ...(isWide === true ? { tableOfContents: false, isWide } : {}),
    ...(scripts.length === 0 ? {} : { scripts }),
    ...(repository === undefined || path === undefined ? {} : { editUrl: `${repository}/edit/main/${path}` }),
  }
  // JSON is YAML.
  const lines = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
  return `---\n${lines.join('\n')}\n---\n\n${body.trim()}\n`
}
