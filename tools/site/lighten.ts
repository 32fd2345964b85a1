import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What pages repeat, which stands in files that all pages of a version share: by its text, what it is called there. */
export interface Shared {
  readonly scripts: Map<string, string>
  readonly drawings: Map<string, string>
  /** Classes, by the colours that they give. */
  readonly colours: Map<string, string>
  /** Short names of classes that the styles name, by long ones. */
  readonly scopes: Map<string, string>
}

export const newShared = (scopes: Shared['scopes'] = new Map()): Shared => ({
  scripts: new Map(),
  drawings: new Map(),
  colours: new Map(),
  scopes,
})

/** Characters from which on a script or a drawing is worth a file that pages share. */
const least = 120

const kept = (of: Map<string, string>, text: string, prefix: string): string => {
  const name = of.get(text) ?? `${prefix}${of.size.toString(36)}`
  of.set(text, name)
  return name
}

const script = /<script((?: type="module")?)>([\s\S]*?)<\/script>/g
const drawing = /(<svg [^>]*>)(<path d="[^"]*"(?:\/>|><\/path>))<\/svg>/g
const colour = /<span style="(--0:[^"]*)">/g
const scope = /\bastro-[a-z0-9]{8}\b/g
const classes = / class="([^"]*\bastro-[a-z0-9]{8}\b[^"]*)"/g

/**
 * A page in which what others have too is named rather than repeated: scripts, drawings, the colours of code, classes. Scripts run where and
 * when they did. `base`: the address of its version. Adds to `shared`.
 */
export function lightened(html: string, base: string, shared: Shared): string {
  const light = html
    .replaceAll(script, (whole, type: string, code: string) => {
      if (code.length < least) return whole
      const name = createHash('sha256').update(code).digest('hex').slice(0, 10)
      shared.scripts.set(code, `${name}.js`)
      return `<script${type} src="${base}assets/s/${name}.js"></script>`
    })
    .replaceAll(drawing, (whole, head: string, path: string) =>
      path.length < least
        ? whole
        : `${head}<use href="${base}assets/s/icons.svg#${kept(shared.drawings, path, 'i')}"/></svg>`,
    )
    .replaceAll(colour, (_, style: string) => `<span class="${kept(shared.colours, style, 'k')}">`)
    .replaceAll(classes, (_, names: string) => {
      const short = names
        .replaceAll(scope, (name) => shared.scopes.get(name) ?? '')
        .replaceAll(/ {2,}/g, ' ')
        .trim()
      return short === '' ? '' : ` class="${short}"`
    })
  return light.replace('</head>', `<link rel="stylesheet" href="${base}assets/s/code.css"></head>`)
}

/** Styles in which classes have the short names. Pure. */
const shortened = (text: string, scopes: Shared['scopes']): string =>
  text
    .replaceAll(scope, (name) => scopes.get(name) ?? name)
    // Words of code have a class in place of a style.
    .replaceAll("span[style^='--']:not([class])", "span[class^='k']")

async function scopesIn(files: readonly string[]): Promise<Shared['scopes']> {
  const scopes = new Map<string, string>()
  for (const file of files)
    for (const [name] of (await readFile(file, 'utf8')).matchAll(scope)) kept(scopes, name, 'a-')
  return scopes
}

/** Parts of the search that no page of ours asks for. */
const unused = /^pagefind-(?:component-ui|modular-ui|highlight)\./

/** Makes a built version lighter, in place; what it looks like and does stays. `base`: the address at which it is served. */
export async function lighten(outDir: string, base: string): Promise<void> {
  const names = (await readdir(outDir, { recursive: true })).map((name) => join(outDir, name))
  const styles = names.filter((name) => name.endsWith('.css') && name.startsWith(join(outDir, 'assets')))
  const shared = newShared(await scopesIn(styles))
  for (const file of styles) await writeFile(file, shortened(await readFile(file, 'utf8'), shared.scopes))
  for (const file of names.filter((name) => /[\\/](?:index|404)\.html$/.test(name)).toSorted())
    await writeFile(file, lightened(await readFile(file, 'utf8'), base, shared))
  const folder = join(outDir, 'assets', 's')
  await mkdir(folder, { recursive: true })
  for (const [code, name] of shared.scripts) await writeFile(join(folder, name), code)
  const drawings = [...shared.drawings].map(([path, id]) => `<g id="${id}">${path}</g>`).join('\n')
  await writeFile(join(folder, 'icons.svg'), `<svg xmlns="http://www.w3.org/2000/svg">\n${drawings}\n</svg>\n`)
  const colours = [...shared.colours].map(([style, name]) => `.${name}{${style}}\n`).join('')
  await writeFile(join(folder, 'code.css'), colours)
  const search = join(outDir, 'pagefind')
  for (const name of await readdir(search).catch(() => [])) if (unused.test(name)) await rm(join(search, name))
}
