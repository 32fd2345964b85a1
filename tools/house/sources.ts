import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync, type Program } from 'oxc-parser'

export const root = join(import.meta.dirname, '../..')

/** One import or re-export of a file by a relative path. */
export interface Import {
  /** From the root, with `/`. */
  readonly to: string
  /** True if only types are imported. */
  readonly isType: boolean
}

export interface Source {
  /** From the root, with `/`. */
  readonly path: string
  readonly text: string
  /** Number of line breaks. */
  readonly lines: number
  readonly program: Program
  /** The text of each doc comment without its stars, on one line. */
  readonly docs: readonly string[]
  readonly imports: readonly Import[]
}

const doc = (value: string): string =>
  value
    .slice(1)
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  const { program, comments, module } = parseSync(path, text)
  const at = (specifier: string): string => posix.join(posix.dirname(path), specifier)
  const named = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      isType: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest === null ? [] : [{ specifier: moduleRequest.value, isType }],
      ),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const [, specifier] = /^['"](.*)['"]$/.exec(text.slice(start, end)) ?? []
      return specifier === undefined ? [] : [{ specifier, isType: false }]
    }),
  ]
  const imports = named
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, isType }) => ({ to: at(specifier), isType }))
  const docs = comments
    .filter(({ type, value }) => type === 'Block' && value.startsWith('*'))
    .map(({ value }) => doc(value))
  return { path, text, lines: text.split('\n').length - 1, program, docs, imports }
}

/** The TypeScript files under these folders of the project, sorted by path. */
export const readSources = (...folders: readonly string[]): readonly Source[] =>
  globSync(
    folders.map((folder) => `${folder}/**/*.{ts,tsx}`),
    { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] },
  )
    .toSorted()
    .map(readSource)
