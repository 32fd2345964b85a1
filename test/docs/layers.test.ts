import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { layers, type Layer } from '../../scripts/layers.ts'
import { circlesOf } from '../../tools/house/rooms.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const repository = join(import.meta.dirname, '..', '..')
interface Plant {
  readonly file: string
  readonly codes: readonly string[]
  /** Pattern that the rule's message must match for each line of code; `undefined`: all of them are legal. */
  readonly says: RegExp | undefined
}

const breaches = (says: RegExp, file: string, ...codes: readonly string[]): Plant => ({ file, codes, says })
const legal = (file: string, ...codes: readonly string[]): Plant => ({ file, codes, says: undefined })

const from = (specifier: string): string => `import { a as $ } from '${specifier}'`
const typeFrom = (specifier: string): string => `import type { a as $ } from '${specifier}'`
const everywhere = (specifier: string): readonly string[] => [
  from(specifier),
  `import '${specifier}'`,
  `export { a as $ } from '${specifier}'`,
  `export * from '${specifier}'`,
  `const $ = await import('${specifier}')`,
]

const isFile = (path: string): boolean => path.endsWith('.ts')
const isOwn = (name: string): boolean => isFile(name) || layers.some(({ path }) => `${path}/`.startsWith(`${name}/`))

/** How a file in a folder names one of another layer, or a package. */
function importOf(name: string, folder: string): string {
  if (!isOwn(name)) return name
  const way = posix.relative(folder, isFile(name) ? name : `${name}/file.ts`)
  return way.startsWith('.') ? way : `./${way}`
}

const packages = [
  'xstate',
  'zod',
  'nanoid',
  'ws',
  'elkjs/lib/main.js',
  'preact',
  'uvu',
  '@ag-ui/core',
  '@ai-sdk/provider',
]
const files = ['node:fs', 'node:fs/promises', 'node:child_process']

/** Breaches for one row of the table: all that it allows, and all that it does not name. */
function plantsOf({ path, below, packages: own = [], node, types = [] }: Layer): readonly Plant[] {
  const says = new RegExp(`^.*${path.replace('.', String.raw`\.`)} imports only`, 's')
  const isAllowed = (name: string): boolean =>
    [path, ...below, ...own].some((one) => name === one || name.startsWith(`${one}/`))
  const others = [...layers.map((layer) => layer.path), 'src/index.ts'].filter((name) => !name.startsWith(`${path}/`))
  const modules = { none: ['node:path', ...files, 'fs'], modules: [...files, 'fs'], files: ['fs'] }[node ?? 'none']
  const wrong = [
    ...[...others, ...packages].filter((name) => !isAllowed(name) && !types.some((type) => name.startsWith(type))),
    ...modules,
  ]
  const right = [
    ...below,
    ...own,
    ...(node === undefined ? [] : ['node:util', 'node:stream/promises']),
    ...(node === 'files' ? files : []),
  ]
  const folders = [
    path,
    ...['deep', 'deep/deeper', 'deep/deeper/still', 'deep/deeper/still/more'].map((way) => `${path}/${way}`),
  ]
  return folders.flatMap((folder, depth) => {
    const file = `${folder}/x.ts`
    const near = ['./y.ts', ...(depth === 0 ? ['./deep/y.ts'] : ['../y.ts'])]
    // Below the fourth folder the rules are those of the fourth.
    const isDeepest = depth === folders.length - 1
    const reach = isDeepest ? [] : wrong
    return [
      breaches(
        says,
        file,
        ...everywhere(importOf(wrong[0]!, folder)),
        ...reach.map((name) => from(importOf(name, folder))),
        ...reach.map((name) => typeFrom(importOf(name, folder))),
        ...types.flatMap((name) => everywhere(importOf(name, folder))),
        ...[`${'../'.repeat(depth + path.split('/').length)}test/support/suite.ts`, './../../elsewhere.ts'].map(from),
      ),
      legal(
        file,
        ...near.map(from),
        ...(isDeepest ? [] : right).map((name) => from(importOf(name, folder))),
        ...(isDeepest ? [] : types).map((name) => typeFrom(importOf(name, folder))),
      ),
    ]
  })
}

const plants: readonly Plant[] = [
  ...layers.flatMap(plantsOf),
  // What no slip of the table may open.
  breaches(
    /conversation imports only/,
    'src/conversation/y.ts',
    ...['zod', '../machines/m.ts', '../runtime/runtime.ts'].map(from),
  ),
  breaches(
    /machines imports only/,
    'src/machines/y.ts',
    ...['zod', '../actors/a.ts', '../conversation/c.ts', 'node:fs'].map(from),
  ),
  breaches(/actors imports only/, 'src/actors/y.ts', ...['../machines/m.ts', '../runtime/runtime.ts', 'ws'].map(from)),
  breaches(
    /runtime imports only/,
    'src/runtime/y.ts',
    ...['ws', 'node:fs', '../../packages/cli/src/main.ts', '../index.ts'].map(from),
  ),
  breaches(
    /client imports only/,
    'packages/bridge/src/client/y.ts',
    ...['node:http', '../../../../src/runtime/runtime.ts', '../../../../src/index.ts'].map(from),
  ),
  breaches(/index\.ts imports only/, 'src/index.ts', ...['zod', 'node:fs/promises', '../test/run.ts'].map(from)),
  legal(
    'src/index.ts',
    `export { a as $ } from '../../packages/bridge/src/createRuntime.ts'`,
    `export type { a as $ } from './protocol/ids.ts'`,
  ),

  ...['src/conversation/x.ts', 'src/machines/x.ts', 'src/machines/states/x.ts'].map((file) =>
    breaches(
      /Pure code has no clock/,
      file,
      'Date.now()',
      'new Date()',
      'globalThis.Date',
      'process.env',
      'setTimeout(f, 1)',
      'performance.now()',
      'fetch("")',
      'crypto.randomUUID()',
      'console.log(1)',
      'Math.random()',
      'const { random: $ } = Math',
    ),
  ),
  ...[
    'src/protocol/x.ts',
    'src/protocol/anotherClock.ts',
    'src/actors/x.ts',
    'src/runtime/agents/x.ts',
    'packages/evaluation/src/testing/simulatedClock.ts',
    'packages/bridge/src/client/x.ts',
  ].map((file) =>
    breaches(/Time goes through the Clock port/, file, 'setTimeout(f, 1)', 'setInterval(f, 1)', 'Date.now()'),
  ),
  legal('src/protocol/ports/clock.ts', 'export const $ = () => Date.now()', 'setTimeout(() => {}, 1)'),
]

interface Report {
  readonly diagnostics: readonly {
    readonly filename: string
    readonly code: string
    readonly message: string
    readonly help?: string
    readonly labels: readonly { readonly span: { readonly line: number } }[]
  }[]
}

/** Plants everything in a folder with this configuration and runs oxlint once: `file:line` to what was said of it. */
async function lint({ cleanup, signal }: CaseContext): Promise<ReadonlyMap<string, string>> {
  const root = await mkdtemp(join(tmpdir(), 'escapement-layers-'))
  cleanup(() => rm(root, { recursive: true, force: true }))
  const config = pathToFileURL(join(repository, 'oxlint.config.ts')).href
  await writeFile(join(root, 'oxlint.config.ts'), `export { default } from ${JSON.stringify(config)}`)
  for (const file of new Set(plants.map((plant) => plant.file))) {
    await mkdir(dirname(join(root, file)), { recursive: true })
    const lines = linesOf(file).map((code, index) => code.replace('$', `name${index}`))
    await writeFile(join(root, file), lines.join('\n'))
  }
  const oxlint = join(repository, 'node_modules', 'oxlint', 'bin', 'oxlint')
  const output = await new Promise<string>((resolve) => {
    // oxlint exits with 1 when it finds something, which is what it is asked to do here.
    const options = { cwd: root, signal, maxBuffer: 64 * 1024 * 1024 }
    execFile(process.execPath, [oxlint, '--format', 'json'], options, (_error, stdout) => resolve(stdout))
  })
  const said = new Map<string, string>()
  for (const { filename, code, message, help, labels } of (JSON.parse(output) as Report).diagnostics) {
    assert.ok(code !== undefined, `${filename} does not parse: ${message}`)
    if (!code.includes('no-restricted-')) continue
    const place = `${filename.replaceAll('\\', '/')}:${labels[0]?.span.line}`
    said.set(place, `${said.get(place) ?? ''}${message} ${help ?? ''}\n`)
  }
  return said
}

const linesOf = (file: string): readonly string[] =>
  plants.filter((plant) => plant.file === file).flatMap((plant) => plant.codes)

describe('the layers', (it) => {
  it('import only what stands below them', () => {
    const seen = new Set<string>()
    for (const { path, below, types = [] } of layers) {
      for (const name of [...below, ...types].filter(isOwn))
        assert.ok(
          [...seen].some((other) => `${other}/`.startsWith(`${name}/`)) ||
            [...seen].some((other) => `${posix.dirname(name)}/`.startsWith(`${other}/`)),
          `${path} imports ${name}, which stands above it`,
        )
      seen.add(path)
    }
  })
})

/** The sources that a file names, types included. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(repository, file), 'utf8').replaceAll(/^\s*(?:\/\/|\*).*$/gm, '')
  return [...text.matchAll(/(?:from |import |import\(|new URL\()\s*'(\.{1,2}\/[^']+)'/g)].map(([, way]) =>
    posix.join(posix.dirname(file), way!),
  )
}

describe('the sources', (it) => {
  it('form no circle, by their types neither', () => {
    const sources = globSync('{src,packages/*/src}/**/*.{ts,tsx}', { cwd: repository })
    const graph = new Map(sources.map((file) => [file, importsOf(file).filter((other) => sources.includes(other))]))
    assert.ok([...graph.values()].flat().length > sources.length, 'imports are seen at all')
    assert.equal(circlesOf(graph), [])
  })
})

describe('the layer rules', (it) => {
  let linted: ReturnType<typeof lint> | undefined

  for (const { file, codes, says } of plants) {
    const title = says === undefined ? `accept what ${file} may do` : `report in ${file}: ${says.source}`
    it(title, { timeoutMs: 20_000 }, async (context) => {
      const said = await (linted ??= lint(context))
      for (const code of codes) {
        const found = said.get(`${file}:${linesOf(file).indexOf(code) + 1}`)
        const right = says === undefined ? found === undefined : found !== undefined && says.test(found)
        assert.ok(right, `${code}\noxlint said ${found ?? 'nothing'}`)
      }
    })
  }
})
