import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

// Not only imports: a test may start a file by its address, or read a page.
const quotedPath = /['"`](\.{1,2}\/[^'"`\n$]+)['"`]/g

const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile()

/** The files of a project with their references: every file that another one names by a relative path in quotes. */
export class ImportGraph {
  readonly #root: string
  readonly #named = new Map<string, readonly string[]>()

  constructor(root: string) {
    this.#root = root
  }

  /** The file and all that it reaches, from the root and with `/`. */
  reachedFrom(file: string): ReadonlySet<string> {
    const reached = new Set([file])
    for (const each of reached) for (const next of this.#namedIn(each)) reached.add(next)
    return reached
  }

  #namedIn(file: string): readonly string[] {
    const known = this.#named.get(file)
    if (known !== undefined) return known
    const named = /\.[cm]?[jt]sx?$/.test(file) ? this.#read(file) : []
    this.#named.set(file, named)
    return named
  }

  #read(file: string): readonly string[] {
    const path = join(this.#root, file)
    if (!isFile(path)) return []
    const texts = readFileSync(path, 'utf8').matchAll(quotedPath)
    const targets = new Set([...texts].map(([, target = '']) => join(dirname(path), target)))
    return [...targets].filter(isFile).map((target) => relative(this.#root, target).split(sep).join('/'))
  }
}
