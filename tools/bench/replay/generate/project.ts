import type { Random } from './random.ts'

export const areas = ['billing', 'search', 'session', 'report', 'import', 'notify', 'access', 'export']
export const nouns = ['Invoice', 'Cursor', 'Token', 'Ledger', 'Batch', 'Channel', 'Policy', 'Window', 'Digest', 'Quota']
export const verbs = ['parse', 'load', 'merge', 'check', 'render', 'settle', 'route', 'expire', 'rank', 'split']
const words =
  'the value is read once and kept until the caller lets it go so that a retry sees what the first attempt saw'.split(
    ' ',
  )

export interface SourceFile {
  readonly path: string
  readonly functions: readonly string[]
  readonly text: string
}

/** A made-up project: files, and settings that are seen early and needed late. */
export interface Project {
  readonly files: readonly SourceFile[]
  readonly settings: readonly string[]
}

export function makeProject(random: Random): Project {
  const settings = Array.from(
    { length: 24 },
    (_, index) => `${random.pick(areas).toUpperCase()}_${random.pick(nouns).toUpperCase()}_LIMIT_${index + 1}`,
  )
  const files = areas.flatMap((area) =>
    Array.from({ length: 6 }, (_, index): SourceFile => {
      const name = `${random.pick(verbs)}${random.pick(nouns)}${index + 1}`
      const functions = Array.from(
        { length: random.between(3, 9) },
        (__, at) => `${random.pick(verbs)}${random.pick(nouns)}${area.slice(0, 3)}${index}${at}`,
      )
      const path = `src/${area}/${name}.ts`
      return { path, functions, text: sourceOf(path, functions, settings, random) }
    }),
  )
  return { files, settings }
}

function sourceOf(path: string, functions: readonly string[], settings: readonly string[], random: Random): string {
  const bodies = functions.map((name) => {
    const lines = Array.from({ length: random.between(5, 30) }, (_, index) => {
      if (random.chance(0.06)) return `  if (count > settings.${random.pick(settings)}) return undefined`
      return `  const step${index} = ${random.pick(functions)}(input, ${random.between(1, 99)}) // ${prose(random, random.between(3, 9))}`
    })
    return `export function ${name}(input, count) {\n${lines.join('\n')}\n  return step0\n}`
  })
  return `// ${path}\n${bodies.join('\n\n')}\n`
}

export const prose = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.pick(words)).join(' ')
