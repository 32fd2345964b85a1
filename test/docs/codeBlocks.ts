import { globSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, posix, relative } from 'node:path'
import type { CaseContext } from '../support/suite.ts'

export const repository = join(import.meta.dirname, '..', '..')
const stageFile = join(import.meta.dirname, 'stage.ts')

/** A `ts` or `tsx` block of a page, or of an `@example` in the sources. */
export interface CodeBlock {
  /** Such as `docs/guide/tools.md`, or `packages/bridge/src/createRuntime.ts`. */
  readonly page: string
  /** Number of its first line of code in the page. */
  readonly line: number
  readonly code: string
  /** `tsx`: with elements of React. */
  readonly language: 'ts' | 'tsx'
  /** Not marked `no-run`, and without elements, which Node does not read. */
  readonly isRun: boolean
}

/** A block as a module, in a folder with the names that the pages take for granted. */
export interface StagedBlock extends CodeBlock {
  readonly file: string
}

/** The README, all pages of docs, those that only the site has, and the doc comments of all sources. */
async function pages(): Promise<readonly { readonly page: string; readonly text: string }[]> {
  const docs = await readdir(join(repository, 'docs'), { recursive: true })
  const site = await readdir(join(repository, 'tools', 'site', 'content'))
  const sources = globSync('{src,packages/*/src}/**/*.ts', { cwd: repository })
  const names = [
    'README.md',
    ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ...site.map((name) => `tools/site/content/${name}`),
    ...sources,
  ]
  return Promise.all(
    names.map(async (page) => {
      const text = await readFile(join(repository, page), 'utf8')
      return { page, text: page.endsWith('.ts') ? docComments(text) : text }
    }),
  )
}

/** The text of the doc comments of a source, each line in its place. */
export const docComments = (source: string): string =>
  source
    .split('\n')
    .map((line) => /^ *\* ?(?!\/)(.*)$/.exec(line)?.[1] ?? '')
    .join('\n')

/**
 * Every `ts` and `tsx` block of a page. A line that opens one is "```ts", "```ts no-run" if it cannot run on its own, or "```tsx". Code of
 * another project that a page of `docs/comingFrom` shows beside ours opens with "```ts theirs"; `tools/site/theirs.ts` compiles it.
 *
 * @throws Error if a block of code is opened in another way, and so would be overlooked.
 */
export function codeBlocks(page: string, text: string): readonly CodeBlock[] {
  const lineOf = (index: number): number => text.slice(0, index).split('\n').length
  const blocks = [...text.matchAll(/^```(ts|ts no-run|tsx)\n([\s\S]*?)^```/gm)].map(
    ({ index, 1: mark, 2: code = '' }) => ({
      page,
      line: lineOf(index) + 1,
      code,
      language: mark === 'tsx' ? ('tsx' as const) : ('ts' as const),
      isRun: mark === 'ts',
    }),
  )
  for (const { index, 0: fence } of text.matchAll(/^.*```(?:tsx?|jsx?|mts|mjs|typescript|javascript)\b.*$/gm)) {
    if (fence === '```ts theirs' && page.startsWith('docs/comingFrom/')) continue
    if (!blocks.some(({ line }) => line === lineOf(index) + 1))
      throw new Error(
        `${page}:${lineOf(index)}: open a block with "\`\`\`ts" or "\`\`\`ts no-run", not ${JSON.stringify(fence)}.`,
      )
  }
  return blocks
}

/** The blocks of all pages as modules, removed after the case. */
export async function stageBlocks({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<readonly StagedBlock[]> {
  const folder = await mkdtemp(join(repository, 'test', '.blocks-'))
  cleanup(() => rm(folder, { recursive: true }))
  const stage = await readFile(stageFile, 'utf8')
  const names = Object.keys((await import(stageFile)) as object)
  const staged: StagedBlock[] = []
  for (const { page, text } of await pages())
    for (const block of codeBlocks(page, text)) {
      const name = `${page.replaceAll(/\W+/g, '-')}-${block.line}`
      // One stage per block, so that what a block does to an agent does not affect the next.
      await writeFile(join(folder, `stage-${name}.ts`), stage)
      const file = join(folder, `${name}.${block.language}`)
      await writeFile(file, sourceFile(block.code) ?? moduleOf(block.code, names, `./stage-${name}.ts`))
      staged.push({ ...block, file })
    }
  return staged
}

/** A block that begins with the path of a source, which it would be: its imports are found from there. `undefined` for any other. */
function sourceFile(code: string): string | undefined {
  const [, path] = /^\/\/ ((?:src|packages)\/\S+\.ts)\n/.exec(code) ?? []
  if (path === undefined) return undefined
  const found = (specifier: string): string => posix.join('../..', posix.dirname(path), specifier)
  return `\n${code.replaceAll(/ from '(\.[^']*)'/g, (_, specifier: string) => ` from '${found(specifier)}'`)}`
}

const importOf = /^import [^']*'[^'\n]*'.*$/gm

/** One line with all imports, then the code line by line, in a block so that it may redeclare names of the stage. */
function moduleOf(code: string, stageNames: readonly string[], stage: string): string {
  const own = (code.match(importOf) ?? []).map((text) => text.replaceAll('\n', ' '))
  const taken = new Set(own.flatMap((line) => line.match(/\w+/g) ?? []))
  const names = stageNames.filter((name) => !taken.has(name))
  const imports = own.map((line) =>
    line.replace(/ from '(escapement[^']*)'.*/, (_, door) => ` from '${sourceOf(door)}'`),
  )
  return `import { ${names.join(', ')} } from '${stage}'; ${imports.join('; ')}; {\n${code.replace(importOf, (text) => text.replaceAll(/[^\n]/g, ''))}}\n`
}

const doors: Readonly<Record<string, string>> = {
  escapement: 'index',
  'escapement/groups': 'groups',
  'escapement/sessions': 'sessions',
  'escapement/stores': 'stores',
  'escapement/charts': 'charts',
  'escapement/client': 'client',
  'escapement/testing': 'testing',
  'escapement/ai-sdk': 'aiSdk',
  'escapement/otel': 'otel',
  'escapement/a2a': 'a2a',
  'escapement/acp': 'acp',
  'escapement/ag-ui': 'agUi',
  'escapement/mcp': 'mcp',
  'escapement/openapi': 'openapi',
  'escapement/stately': 'stately',
  'escapement/memory': 'memory',
  'escapement/sqlite': 'sqlite',
  'escapement/postgres': 'postgres',
  'escapement/restate': 'restate',
  'escapement/react': 'react',
  'escapement/policies': 'policies',
  'escapement/workspaces': 'workspaces',
  'escapement/xstate': 'xstate',
  'escapement/code': 'code',
}

const sourceOf = (door: string): string => `../../src/${doors[door] ?? door}.ts`

/** Where a line of a block's module is in its page. */
export const placeOf = ({ page, line }: CodeBlock, moduleLine = 2): string => `${page}:${line + moduleLine - 2}`

export const advice = `Each ts block of README.md, docs and the doc comments in src is compiled in strict mode, and run unless it is opened with "\`\`\`ts no-run".
A block may use any name of the main entry, of those for groups, sessions, stores and charts, and of ${relative(repository, stageFile)}; it must declare others, or they must be added there.`
