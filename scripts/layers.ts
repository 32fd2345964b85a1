import { posix } from 'node:path'

/** A folder of `src`, or a door of the package, and what it may import beside its own files. */
export interface Layer {
  /** Path under `src`. Files in a folder that has a row of its own follow that row. */
  readonly path: string
  /** Layers below, or single files of them. */
  readonly below: readonly string[]
  readonly packages?: readonly string[]
  /** Modules of Node that it may import; `'files'`: also those for files and processes. */
  readonly node?: 'modules' | 'files'
  /** Layers and packages whose types it may import, and nothing that runs. */
  readonly types?: readonly string[]
}

const words = ['protocol', 'log', 'conversation']

/** Layers from the bottom up: each imports only those before it. */
export const layers: readonly Layer[] = [
  { path: 'protocol', below: [], packages: ['zod', '@earendil-works/pi-schema'] },
  { path: 'log', below: ['protocol'] },
  { path: 'conversation', below: ['protocol', 'log'] },
  { path: 'machines', below: ['protocol', 'log'], packages: ['xstate'] },
  { path: 'redaction', below: ['protocol'], packages: ['zod'] },
  {
    path: 'actors',
    below: [...words, 'redaction'],
    types: ['machines', '@ai-sdk/provider'],
    packages: ['xstate', 'zod', 'yaml'],
    node: 'files',
  },
  { path: 'runs', below: ['protocol'] },
  { path: 'client/fold', below: ['protocol', 'runs'] },
  { path: 'stores', below: ['protocol'], packages: ['zod', 'pg'], node: 'files' },
  { path: 'memory', below: ['protocol', 'stores'], packages: ['minisearch'], node: 'files' },
  { path: 'sessions', below: [...words, 'machines', 'stores'], packages: ['zod', 'nanoid'], node: 'modules' },
  { path: 'text', below: [], packages: ['marked'] },
  {
    path: 'charts',
    below: [...words, 'machines', 'actors', 'text'],
    packages: ['xstate', 'elkjs'],
    node: 'modules',
  },
  {
    path: 'sessionPages',
    below: ['protocol', 'stores', 'sessions', 'charts/packageFile.ts'],
    packages: ['zod'],
    node: 'files',
  },
  { path: 'telemetry', below: ['protocol'], packages: ['zod', '@opentelemetry/api'] },
  {
    path: 'mcp',
    below: [...words, 'redaction', 'actors'],
    packages: ['xstate', 'zod', '@modelcontextprotocol/client', '@opentelemetry/api'],
    node: 'files',
  },
  {
    path: 'openapi',
    below: [...words, 'actors'],
    packages: ['zod', '@scalar/openapi-upgrader', 'yaml'],
    node: 'files',
  },
  { path: 'runtime/interpreter', below: ['protocol', 'machines', 'actors'], packages: ['xstate'], node: 'modules' },
  { path: 'runtime/events', below: [...words, 'machines', 'redaction', 'actors', 'runs', 'telemetry'] },
  {
    path: 'runtime/children',
    below: [...words, 'machines', 'actors', 'runs', 'sessions', 'runtime/events'],
    packages: ['zod'],
  },
  {
    path: 'runtime/agents',
    below: [
      ...words,
      'machines',
      'redaction',
      'actors',
      'runs',
      'sessions',
      'telemetry',
      'runtime/interpreter',
      'runtime/events',
      'runtime/children',
    ],
    packages: ['xstate', 'zod'],
    node: 'modules',
  },
  {
    path: 'runtime',
    below: [
      ...words,
      'machines',
      'redaction',
      'actors',
      'stores',
      'sessions',
      'telemetry',
      'runtime/interpreter',
      'runtime/children',
      'runtime/agents',
    ],
    packages: ['xstate', 'zod', 'nanoid'],
    node: 'modules',
  },
  {
    path: 'runtime/xstate',
    below: [
      ...words,
      'actors',
      'runs',
      'sessions',
      'runtime/children',
      'runtime/agents',
      'runtime/agentRuntime.ts',
      'runtime/runtime.ts',
    ],
    packages: ['xstate', 'zod', 'nanoid'],
    node: 'modules',
  },
  {
    path: 'runtime/groups',
    below: [...words, 'machines', 'actors', 'runs', 'runtime/children', 'runtime/agents', 'runtime/agentRuntime.ts'],
    packages: ['zod'],
    node: 'modules',
  },
  { path: 'userFiles', below: ['protocol'], packages: ['zod'], node: 'files' },
  { path: 'testing', below: ['protocol', 'redaction', 'actors', 'stores'], node: 'files' },
  { path: 'server/page', below: ['charts'], node: 'files' },
  {
    path: 'server/bridge',
    below: [
      ...words,
      'machines',
      'redaction',
      'actors',
      'runs',
      'sessions',
      'charts',
      'runtime/agents',
      'runtime/resumeAll.ts',
      'runtime/waitingList.ts',
      'server/page',
    ],
    packages: ['xstate', 'zod', 'nanoid', 'ws'],
    node: 'modules',
  },
  {
    path: 'server/inProcess',
    below: ['protocol', 'actors', 'server/bridge'],
    packages: ['zod'],
  },
  { path: 'server/streams', below: ['protocol', 'runtime/agents', 'server/bridge'], node: 'modules' },
  {
    path: 'server/acp',
    below: [...words, 'runs', 'sessions', 'runtime/agents', 'server/bridge'],
    packages: ['zod', '@agentclientprotocol/sdk'],
    node: 'modules',
  },
  {
    path: 'server/agUi',
    below: [...words, 'runs', 'sessions', 'runtime/agents', 'server/bridge', 'server/streams'],
    packages: ['zod', 'nanoid', '@ag-ui/core'],
    node: 'modules',
  },
  {
    path: 'server/mcp',
    below: [
      ...words,
      'actors',
      'runs',
      'runtime/agents',
      'runtime/agentRuntime.ts',
      'runtime/runtime.ts',
      'server/bridge',
    ],
    packages: ['zod', '@modelcontextprotocol/server', '@modelcontextprotocol/node'],
    node: 'modules',
  },
  {
    path: 'server/aiSdkUi',
    below: [...words, 'runs', 'runtime/agents', 'server/bridge', 'server/streams'],
    packages: ['zod'],
    node: 'modules',
  },
  { path: 'server/stately', below: ['protocol', 'runtime/agents', 'server/bridge'], packages: ['xstate', 'ws'] },
  {
    path: 'server/gateway',
    below: ['protocol', 'sessions', 'stores', 'server/bridge', 'server/streams'],
    packages: ['zod', 'nanoid', 'ws'],
    node: 'modules',
  },
  { path: 'serveGateway.ts', below: ['server/bridge', 'server/gateway'] },
  { path: 'evaluation/results.ts', below: ['protocol'] },
  { path: 'evaluation/statistics', below: [] },
  { path: 'evaluation/metrics', below: [...words, 'charts/workTimes.ts', 'evaluation/results.ts'] },
  {
    path: 'evaluation/report',
    below: ['protocol', 'charts', 'evaluation/results.ts', 'evaluation/statistics'],
    node: 'files',
  },
  {
    path: 'evaluation',
    below: [
      ...words,
      'redaction',
      'actors',
      'runs',
      'stores',
      'sessions',
      'runtime',
      'runtime/agents',
      'testing',
      'sessionPages',
      'userFiles',
      'text/shellWord.ts',
      'evaluation/results.ts',
      'evaluation/metrics',
      'evaluation/report',
    ],
    packages: ['zod', 'yaml', 'smol-toml'],
    node: 'files',
  },
  { path: 'defineConfig.ts', below: ['protocol', 'redaction', 'actors', 'server/bridge'], types: ['mcp'] },
  { path: 'client', below: ['protocol', 'runs', 'client/fold'], types: ['actors', 'zod'], packages: ['ws'] },
  { path: 'createRuntime.ts', below: ['runtime', 'server/bridge', 'server/inProcess', 'client'] },
  {
    path: 'restate',
    below: [
      ...words,
      'actors',
      'runs',
      'sessions',
      'client',
      'runtime',
      'runtime/agents',
      'runtime/children',
      'runtime/agentRuntime.ts',
      'server/bridge',
      'createRuntime.ts',
    ],
    packages: ['zod', 'nanoid', '@restatedev/restate-sdk', '@restatedev/restate-sdk-clients'],
    node: 'modules',
  },
  { path: 'client.ts', below: ['protocol', 'runs', 'client', 'client/fold'] },
  { path: 'react', below: ['protocol', 'runs', 'client', 'client/fold'], types: ['actors'], packages: ['react'] },
  {
    path: 'inspector',
    below: [...words, 'sessions', 'text', 'charts', 'client.ts', 'client/fold'],
    packages: ['preact', '@preact/signals', 'elkjs', 'vite'],
  },
  {
    path: 'cli',
    below: [
      ...words,
      'machines',
      'redaction',
      'actors',
      'runs',
      'stores',
      'memory',
      'sessions',
      'text',
      'charts',
      'sessionPages',
      'runtime',
      'server',
      'client',
      'mcp',
      'restate',
      'createRuntime.ts',
      'defineConfig.ts',
      'evaluation',
      'userFiles',
    ],
    packages: ['xstate', 'zod', 'nanoid'],
    node: 'files',
  },
  {
    path: 'offline',
    below: [
      'protocol',
      'actors',
      'stores',
      'charts',
      'runtime',
      'createRuntime.ts',
      'server/bridge',
      'server/inProcess',
      'client',
      'sessionPages/sessionFile.ts',
      'inspector',
      'cli/demo/sortPolicy.ts',
      'cli/demo/sortTask.ts',
    ],
    packages: ['preact', '@preact/signals', 'zod', 'fflate', 'dequal', 'vite'],
  },
  { path: 'memory.ts', below: ['protocol', 'memory'] },
  { path: 'sqlite.ts', below: ['stores'] },
  { path: 'postgres.ts', below: ['stores'] },
  { path: 'restate.ts', below: ['protocol', 'restate'] },
  { path: 'react.ts', below: ['client', 'client/fold', 'react'] },
  { path: 'policies.ts', below: ['protocol', 'actors'] },
  { path: 'aiSdk.ts', below: ['protocol', 'actors', 'server/aiSdkUi'], types: ['@ai-sdk/provider'] },
  { path: 'testing.ts', below: ['protocol', 'actors', 'testing', 'evaluation'] },
  { path: 'otel.ts', below: ['protocol', 'telemetry'] },
  { path: 'acp.ts', below: ['protocol', 'server/acp'] },
  { path: 'agUi.ts', below: ['protocol', 'server/agUi', 'server/bridge'] },
  { path: 'openapi.ts', below: ['protocol', 'actors', 'openapi'] },
  { path: 'mcp.ts', below: ['protocol', 'actors', 'mcp', 'server/mcp', 'server/bridge'] },
  { path: 'xstate.ts', below: ['protocol', 'runtime/xstate'] },
  { path: 'stately.ts', below: ['protocol', 'server/stately', 'server/bridge'] },
]

const isFile = (path: string): boolean => path.endsWith('.ts')
const isOfSrc = (name: string): boolean =>
  isFile(name) || layers.some(({ path }) => path === name || path.startsWith(`${name}/`))

/** How a file in one folder names another file, or whatever is in another folder. */
function wayTo(path: string, from: string): string {
  const relative = relativeTo(path, from)
  return isFile(path) ? relative : `${relative}/**`
}

function relativeTo(path: string, from: string): string {
  const way = posix.relative(from, path)
  return way.startsWith('.') ? way : `./${way}`
}

const startOf = (name: string, folder: string): string =>
  `^${(isOfSrc(name) ? relativeTo(name, folder) : name).replaceAll('.', String.raw`\.`)}(/|$)`

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`

/** Message for an import that breaks the rule. */
export function ruleOf({ path, below, packages = [], node, types = [] }: Layer): string {
  const own = isFile(path) ? [] : ['its own files']
  const modules = { none: [], modules: ['node:* (no files, no processes)'], files: ['node:*'] }[node ?? 'none']
  const typesOnly = types.length === 0 ? '' : `, and types of ${listed(types)}`
  return `${path} imports only ${listed([...own, ...below, ...packages, ...modules])}${typesOnly}.`
}

const nodeModules = {
  none: [],
  modules: ['!node:*', '!node:*/**', 'node:fs', 'node:fs/**', 'node:child_process'],
  files: ['!node:*', '!node:*/**'],
} as const

/** Rules of the linter for the files of one folder. The last of its patterns that matches decides, as in a `.gitignore`. */
function rules(layer: Layer, folder: string): object {
  const { path, below, packages = [], node = 'none', types = [] } = layer
  const ofPackage = (name: string): readonly string[] => [name, `${name}/**`]
  const waysTo = (name: string): readonly string[] => (isOfSrc(name) ? [wayTo(name, folder)] : ofPackage(name))
  const outside = posix.relative(folder, posix.dirname(path))
  const own = isFile(path) ? [] : ['!./**', './../**', ...(folder === path ? [] : ['!../**', `${outside}/**`])]
  const inner = layers.flatMap((other) => (other.path.startsWith(`${path}/`) ? waysTo(other.path) : []))
  // A package may be called like a folder.
  const open = [...[...below, ...types].flatMap(waysTo), ...packages.flatMap(ofPackage)].map((way) => `!${way}`)
  const group = ['**', ...own, ...inner, ...open, ...nodeModules[node]]
  const message = ruleOf(layer)
  const typesOnly = types.map((name) => ({ regex: startOf(name, folder), message, allowTypeImports: true }))
  // A way that a group leaves open is not held against the patterns after it.
  const patterns = [...typesOnly, { group, message }]
  return { 'no-restricted-imports': ['error', { patterns }] }
}

/** Folders below a layer's own, as deep as the ways differ; deeper ones are like the last. */
const depths = ['', '/*', '/*/*/**'] as const

/** The part of the linter's configuration that keeps the layers apart: of two entries for a file the later one counts. */
export const layerRules = [
  { files: ['src/*.ts'], rules: rules({ path: 'index.ts', below: layers.map(({ path }) => path) }, '') },
  ...layers
    .toSorted((a, b) => a.path.split('/').length - b.path.split('/').length)
    .flatMap((layer) =>
      isFile(layer.path)
        ? [{ files: [`src/${layer.path}`], rules: rules(layer, posix.dirname(layer.path).replace(/^\.$/, '')) }]
        : depths.map((depth) => ({
            files: [`src/${layer.path}${depth}/*.ts`, `src/${layer.path}${depth}/*.tsx`],
            rules: rules(layer, `${layer.path}${depth.replace('/**', '')}`),
          })),
    ),
]
