import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { figures } from './figures.ts'
import { livePlaces } from './liveModules.ts'
import { outsideCode } from './outsideCode.ts'
import { pageText } from './pageText.ts'
import { withPictures } from './pictures.ts'
import { recordedPage } from './recordedSession.ts'
import type { SitePage } from './sitePage.ts'
import { addressFrom, linkTarget, slugOf } from './slugs.ts'

const folder = 'tools/site/content'

/**
 * Pages that only the site has: `tools/site/content`. Their links go to files of the repository, as those of `docs` do. A version without them
 * begins with its README.
 */
export async function ownPages(root: string): Promise<readonly SitePage[]> {
  const there = existsSync(join(root, folder))
    ? (await readdir(join(root, folder))).filter((name) => name.endsWith('.md'))
    : []
  if (!there.includes('index.md')) there.push('../../README.md')
  return Promise.all(there.toSorted().map((name) => ownPage(root, name)))
}

async function ownPage(root: string, name: string): Promise<SitePage> {
  const isReadme = name.endsWith('README.md')
  const path = isReadme ? 'README.md' : `${folder}/${name}`
  const slug = isReadme || name === 'index.md' ? '' : name.replace(/\.md$/, '')
  const { title, description, body } = pageText(await readFile(join(root, path), 'utf8'))
  const { markdown, scripts } = livePlaces(body)
  const links = outsideCode(markdown, (prose) =>
    prose.replaceAll(/(?<!!\[[^\]]*)(\]\(|href=")(?![a-z]+:|#)([^)"\s]+)/g, (whole, before: string, link: string) => {
      // Pictures, and what the build puts beside the pages.
      if (link.endsWith('.svg')) return whole
      if (link.split('#')[0] === recordedPage) return `${before}${addressFrom(slug, '')}${link}`
      const target = linkTarget(path, link)
      const own = target.path.startsWith(`${folder}/`)
        ? target.path.slice(folder.length + 1).replace(/\.md$/, '')
        : undefined
      if (own === undefined && !existsSync(join(root, target.path)))
        throw new Error(`${path} links to ${link}, which is not there.`)
      return `${before}${addressFrom(slug, own ?? slugOf(target.path))}${target.hash}`
    }),
  )
  return {
    slug,
    title,
    description,
    body: await withPictures(root, path, filled(links, title, slug), slug),
    path,
    ...(slug === '' && !isReadme ? { isStart: true } : {}),
    scripts,
  }
}

/** Puts in what the site makes. The title of the start page stands where it wants it, other pages have theirs above. */
const filled = (markdown: string, title: string, slug: string): string =>
  markdown
    .replace('<!-- figures -->', () => figures(slug))
    .replace('<!-- title -->', () => `<h1 id="_top">${title}</h1>`)
