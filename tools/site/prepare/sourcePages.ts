import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { SitePage } from './sitePage.ts'
import { slugOf } from './slugs.ts'

const languages: Readonly<Record<string, string>> = {
  '.tsx': 'tsx',
  '.json': 'json',
  '.yaml': 'yaml',
  '.mmd': 'mermaid',
}

/** Characters of a file beyond which it has no colours: they take ten times its size. */
const longest = 40_000

/** Folders of a repository that hold nothing written by people. */
const isMade = (name: string): boolean => name === 'node_modules' || name === 'dist' || name.startsWith('.')

/**
 * A file or folder that a page links to, as a page of its own: the site has all it speaks of, wherever it is served. Folders name what is
 * in them, which has no pages: a link to one folder would bring all of the repository.
 */
export async function sourcePage(root: string, path: string): Promise<SitePage> {
  const file = join(root, path)
  const slug = slugOf(path)
  const shared = { slug, title: path, path, isSource: true }
  if ((await stat(file)).isDirectory()) {
    const entries = (await readdir(file)).filter((name) => !isMade(name)).toSorted()
    return { ...shared, description: `What is in ${path}.`, body: entries.map((name) => `- \`${name}\``).join('\n') }
  }
  const text = await readFile(file, 'utf8')
  const language = text.length > longest ? 'text' : (languages[extname(path)] ?? (extname(path).slice(1) || 'text'))
  return { ...shared, description: `${basename(path)} of the repository.`, body: fenced(text, language) }
}

function fenced(text: string, language: string): string {
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`
}
