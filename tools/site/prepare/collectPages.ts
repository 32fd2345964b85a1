import { existsSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beside } from './beside.ts'
import { livePlaces } from './liveModules.ts'
import { outsideCode } from './outsideCode.ts'
import { pageText } from './pageText.ts'
import { withPictures } from './pictures.ts'
import type { SitePage } from './sitePage.ts'
import { sourcePage } from './sourcePages.ts'
import { addressFrom, linkTarget, pictureFrom, slugOf } from './slugs.ts'

const decisions = 'docs/decisions'

/** Pages that stand on the site although they are not in `docs`. */
const forPeople = ['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md']

/**
 * All pages that a version of the repository has by itself: `docs`, what is written for its contributors, and every file that one of these
 * links to.
 *
 * @throws Error when a page links to a file that is not there.
 */
export async function collectPages(root: string): Promise<readonly SitePage[]> {
  const pages = new Map<string, SitePage>()
  const queue = [...(await written(root))]
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (pages.has(path)) continue
    const { page, linked } = path === decisions ? await decisionsPage(root) : await pageOf(root, path)
    pages.set(path, page)
    queue.push(...linked)
  }
  return [...pages.values()]
}

async function written(root: string): Promise<readonly string[]> {
  const docs = (await readdir(join(root, 'docs'), { recursive: true })).map(
    (name) => `docs/${name.replaceAll('\\', '/')}`,
  )
  const found = docs.filter((path) => path.endsWith('.md')).toSorted()
  const others = forPeople.filter((path) => existsSync(join(root, path)))
  return [...found, ...others, ...(existsSync(join(root, decisions)) ? [decisions] : [])]
}

interface Linked {
  readonly page: SitePage
  /** Paths that it links to. */
  readonly linked: readonly string[]
}

async function pageOf(root: string, path: string): Promise<Linked> {
  if (!path.endsWith('.md') || statSync(join(root, path)).isDirectory())
    return { page: await sourcePage(root, path), linked: [] }
  const text = await readFile(join(root, path), 'utf8')
  const { title, description, body } = pageText(text)
  const live = livePlaces(body)
  const { markdown, linked } = rewriteLinks(root, path, live.markdown)
  const isSource = slugOf(path).startsWith('source/')
  return {
    page: {
      slug: slugOf(path),
      title,
      description,
      body: beside(await withPictures(root, path, markdown), title),
      path,
      scripts: live.scripts,
      ...(isSource ? { isSource } : {}),
      ...(path.startsWith('docs/comingFrom/') ? { isWide: true } : {}),
    },
    linked,
  }
}

const link = /(?<!!\[[^\]]*)\]\((?![a-z]+:)([^)\s]+)\)/g

/** Makes links between files links between pages. */
function rewriteLinks(
  root: string,
  path: string,
  text: string,
): { readonly markdown: string; readonly linked: string[] } {
  const linked: string[] = []
  const slug = slugOf(path)
  const markdown = outsideCode(text, (prose) =>
    prose.replaceAll(link, (whole, target: string) => {
      if (target.startsWith('#')) return whole
      const to = linkTarget(path, target)
      if (!existsSync(join(root, to.path))) throw new Error(`${path} links to ${target}, which is not there.`)
      if (to.path.startsWith('docs/pictures/')) return `](${pictureFrom(slug, to.path)})`
      if (to.path !== 'README.md') linked.push(to.path)
      return `](${addressFrom(slug, slugOf(to.path))}${to.hash})`
    }),
  )
  return { markdown, linked }
}

/** A list of what was decided, for contributors. */
async function decisionsPage(root: string): Promise<Linked> {
  const names = (await readdir(join(root, decisions))).filter((name) => name.endsWith('.md')).toSorted()
  const rows = names.map(async (name) => {
    const { title } = pageText(await readFile(join(root, decisions, name), 'utf8'))
    return `- [${title}](${addressFrom('decisions', slugOf(`${decisions}/${name}`))})`
  })
  const body = `Why things are as they are, each with what else was considered. Written for those who change escapement.\n\n${(await Promise.all(rows)).join('\n')}`
  return {
    page: { slug: 'decisions', title: 'Decisions', description: 'Why things are as they are.', body, path: decisions },
    linked: [],
  }
}
