import { posix } from 'node:path'

/** A room of the core or a package, and what it may import beside its own files. */
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

/** The rooms of the core, from the ground up. */
const core = [
  'src/protocol',
  'src/log',
  'src/conversation',
  'src/machines',
  'src/actors',
  'src/runtime/interpreter',
  'src/runtime/events',
  'src/runtime/children',
  'src/runtime/agents',
  'src/runtime',
]
/** Rooms that stand before this one. */
const before = (path: string): readonly string[] => core.slice(0, core.indexOf(path))
const words = before('src/machines')
const adapters = 'packages/ai-sdk/src/adapters'
/** Sources of packages, by their names with spaces between them. */
const sourcesOf = (names: string): readonly string[] => names.split(' ').map((name) => `packages/${name}/src`)

/** From the ground up: each imports only what stands before it. First the core, which knows no package; then the packages. */
export const layers: readonly Layer[] = [
  { path: 'src/protocol', below: [], packages: ['zod'] },
  { path: 'src/log', below: before('src/log'), packages: ['zod'] },
  { path: 'src/conversation', below: before('src/conversation') },
  { path: 'src/machines', below: ['src/protocol', 'src/log'], packages: ['xstate'] },
  {
    path: 'src/actors',
    below: words,
    types: ['src/machines'],
    packages: ['xstate', 'zod'],
    node: 'modules',
  },
  {
    path: 'src/runtime/interpreter',
    below: ['src/protocol', 'src/machines', 'src/actors'],
    packages: ['xstate'],
    node: 'modules',
  },
  { path: 'src/runtime/events', below: before('src/runtime/interpreter') },
  {
    path: 'src/runtime/children',
    below: [...before('src/runtime/interpreter'), 'src/runtime/events'],
    packages: ['zod'],
  },
  { path: 'src/runtime/agents', below: before('src/runtime/agents'), packages: ['xstate', 'zod'], node: 'modules' },
  { path: 'src/runtime', below: before('src/runtime'), packages: ['xstate', 'zod', 'nanoid'], node: 'modules' },
  { path: 'packages/wire/src', below: ['src/protocol'], packages: ['zod'] },
  { path: 'packages/words/src', below: ['src/protocol'] },
  { path: 'packages/redaction/src', below: ['src/protocol', 'src/log/redaction/blankSecrets.ts'], packages: ['zod'] },
  { path: 'packages/stores/src', below: ['src/protocol', 'src/log'], packages: ['zod'], node: 'files' },
  {
    path: 'packages/sessions/src',
    below: [...core, 'packages/stores/src', 'packages/words/src', 'packages/wire/src'],
    packages: ['zod', 'nanoid'],
    node: 'modules',
  },
  { path: 'packages/waking/src', below: [...core, 'packages/stores/src'], packages: ['zod'], node: 'modules' },
  {
    path: 'packages/schemas/src',
    below: ['src/protocol', 'src/actors'],
    packages: ['@earendil-works/pi-schema'],
    types: ['zod'],
  },
  {
    path: adapters,
    below: [...words, 'src/actors', 'packages/schemas/src'],
    types: ['@ai-sdk/provider'],
    packages: ['zod'],
  },
  { path: 'packages/policies/src', below: [...words, 'src/actors', adapters], packages: ['zod'], node: 'files' },
  { path: 'packages/models/src', below: [...words, 'src/actors', adapters], packages: ['zod'] },
  {
    path: 'packages/runtime/src',
    below: [...core, ...sourcesOf('words redaction stores'), 'packages/sessions/src/exportSession.ts'],
    packages: ['xstate', 'zod', 'nanoid', 'croner'],
    node: 'modules',
  },
  {
    path: 'packages/groups/src',
    below: [...core, adapters, 'packages/policies/src/transcript.ts'],
    packages: ['zod'],
    node: 'modules',
  },
  { path: 'packages/remote/src', below: [...words, 'src/actors'], packages: ['zod'] },
  {
    path: 'packages/xstate/src',
    below: [...core, 'packages/wire/src'],
    packages: ['xstate', 'zod', 'nanoid'],
    node: 'modules',
  },
  { path: 'packages/charts/src/text', below: ['src/protocol'], packages: ['marked'] },
  {
    path: 'packages/charts/src',
    below: [
      ...words,
      'src/machines',
      'src/actors',
      'packages/sessions/src/savings/savings.ts',
      'packages/charts/src/text',
    ],
    types: ['packages/wire/src'],
    packages: ['xstate', 'elkjs'],
    node: 'modules',
  },
  {
    path: 'packages/otel/src',
    below: ['src/protocol', 'packages/words/src'],
    packages: ['zod', '@opentelemetry/api', '@opentelemetry/sdk-metrics', '@opentelemetry/exporter-prometheus'],
    node: 'modules',
  },
  {
    path: 'packages/sqlite/src',
    below: ['src/protocol', 'src/log', 'packages/stores/src'],
    packages: ['zod'],
    node: 'files',
  },
  {
    path: 'packages/postgres/src',
    below: ['src/protocol', 'src/log', 'packages/stores/src'],
    packages: ['zod', 'pg'],
    node: 'files',
  },
  { path: 'packages/tools/src/finding', below: [...words, 'src/actors'], packages: ['zod'] },
  {
    path: 'packages/tools/src',
    below: [...words, 'src/actors', 'packages/stores/src', 'packages/sqlite/src'],
    types: ['src/machines'],
    packages: ['zod', 'yaml', 'minisearch'],
    node: 'files',
  },
  {
    path: 'packages/code/src',
    below: [...words, 'src/actors', 'packages/tools/src/finding'],
    packages: ['zod', 'quickjs-wasi'],
    node: 'files',
  },
  {
    path: 'packages/define/src',
    below: ['src/actors', adapters, 'packages/tools/src', 'packages/tools/src/finding', 'packages/schemas/src'],
  },
  {
    path: 'packages/openapi/src',
    below: [...words, 'src/actors', 'packages/tools/src', 'packages/schemas/src'],
    packages: ['zod', '@scalar/openapi-upgrader', 'yaml'],
    node: 'files',
  },
  { path: 'packages/demo/src', below: ['src/protocol', 'src/actors', 'packages/models/src'] },
  {
    path: 'packages/bridge/src/client/fold',
    below: ['src/protocol', 'src/protocol/runs', 'packages/wire/src/pendingIn.ts'],
  },
  {
    path: 'packages/bridge/src/client',
    below: [
      'src/protocol',
      'src/protocol/runs',
      'packages/wire/src/bridgeProtocol.ts',
      ...['rights', 'hostView', 'pendingIn', 'spend'].map((name) => `packages/wire/src/${name}.ts`),
      'packages/bridge/src/client/fold',
    ],
    types: ['packages/wire/src/frames.ts', 'src/actors', 'zod'],
    packages: ['ws'],
  },
  {
    path: 'packages/bridge/src',
    below: [
      ...core,
      ...sourcesOf('stores sessions waking'),
      'packages/xstate/src/hosts/registry.ts',
      ...sourcesOf('charts wire'),
      'packages/bridge/src/client',
      ...sourcesOf('words runtime'),
    ],
    packages: ['xstate', 'zod', 'nanoid', 'ws'],
    node: 'files',
  },
  {
    path: 'packages/react/src',
    below: ['src/protocol', 'src/protocol/runs', 'packages/bridge/src/client', 'packages/bridge/src/client/fold'],
    types: ['packages/wire/src', 'src/actors'],
    packages: ['react'],
  },
  {
    path: 'packages/ag-ui/src',
    below: [...core, 'packages/charts/src', 'packages/bridge/src', 'packages/words/src'],
    packages: ['zod', 'nanoid', '@ag-ui/core'],
    node: 'modules',
  },
  {
    path: 'packages/ai-sdk/src',
    below: [...core, adapters, 'packages/bridge/src', 'packages/words/src'],
    packages: ['zod'],
    node: 'modules',
  },
  {
    path: 'packages/mcp/src',
    below: [
      ...core,
      'packages/tools/src',
      'packages/charts/src',
      'packages/bridge/src',
      'packages/redaction/src',
      'packages/schemas/src',
    ],
    packages: [
      'xstate',
      'zod',
      '@modelcontextprotocol/client',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/node',
      '@opentelemetry/api',
    ],
    node: 'files',
  },
  {
    path: 'packages/acp/src',
    below: [
      ...core,
      ...sourcesOf('wire sessions charts bridge tools'),
      'packages/mcp/src/client/stdioTransport.ts',
      'packages/mcp/src/client/standardError.ts',
      ...sourcesOf('remote words'),
    ],
    packages: ['zod', '@agentclientprotocol/sdk'],
    node: 'modules',
  },
  {
    path: 'packages/a2a/src',
    below: [...core, ...sourcesOf('remote charts bridge'), 'packages/mcp/src/server/people.ts'],
    packages: ['zod', '@a2a-js/sdk'],
    node: 'modules',
  },
  {
    path: 'packages/stately/src',
    below: ['src/protocol', 'src/runtime/agents', 'packages/wire/src', 'packages/bridge/src'],
    packages: ['xstate', 'ws'],
  },
  {
    path: 'packages/cluster/src',
    below: [
      ...core,
      'packages/otel/src/metrics/figures.ts',
      ...sourcesOf('wire sessions waking'),
      'packages/xstate/src/hosts/naming.ts',
      'packages/xstate/src/hosts/registry.ts',
      ...sourcesOf('bridge runtime'),
      'packages/stores/src',
    ],
    packages: ['zod', 'nanoid', 'ws', '@restatedev/restate-sdk', '@restatedev/restate-sdk-clients'],
    node: 'modules',
  },
  {
    path: 'packages/page/src/sessionPages',
    below: [...core, 'packages/stores/src', 'packages/sessions/src', 'packages/charts/src'],
    packages: ['zod'],
    node: 'files',
  },
  {
    path: 'packages/page/src/inspector',
    below: [
      ...words,
      ...sourcesOf('sessions charts'),
      'packages/bridge/src/client',
      'packages/bridge/src/client/fold',
      'packages/words/src',
    ],
    types: ['packages/wire/src'],
    packages: ['preact', '@preact/signals', 'elkjs', 'vite'],
  },
  {
    path: 'packages/page/src/offline',
    below: [
      ...core,
      ...sourcesOf('sessions charts models demo define bridge'),
      'packages/page/src/sessionPages',
      'packages/page/src/inspector',
      'packages/runtime/src',
      'packages/stores/src',
    ],
    types: ['packages/tools/src'],
    packages: ['preact', '@preact/signals', 'zod', 'fflate', 'dequal', 'vite'],
  },
  { path: 'packages/evaluation/src/statistics', below: [] },
  {
    path: 'packages/evaluation/src',
    below: [
      ...core,
      ...sourcesOf('stores sessions policies models charts tools'),
      adapters,
      'packages/define/src',
      'packages/page/src/sessionPages',
      'packages/evaluation/src/statistics',
      ...sourcesOf('redaction runtime'),
      'packages/schemas/src',
    ],
    packages: ['zod', 'yaml', 'smol-toml'],
    node: 'files',
  },
  {
    path: 'packages/cli/src',
    below: [
      ...core,
      ...sourcesOf('wire words redaction stores sessions policies models waking runtime schemas xstate charts sqlite'),
      ...sourcesOf('postgres tools demo define bridge acp ag-ui ai-sdk mcp otel stately'),
      'packages/cluster/src',
      'packages/page/src/sessionPages',
      'packages/evaluation/src',
      'packages/runtime/src',
    ],
    packages: ['xstate', 'zod', 'nanoid'],
    node: 'files',
  },
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
const depths = ['', '/*', '/*/*', '/*/*/*/**'] as const

/** The part of the linter's configuration that keeps the layers apart: of two entries for a file the later one counts. */
export const layerRules = [
  // The doors of the package hand on what lies in rooms and packages.
  { files: ['src/*.ts'], rules: rules({ path: 'src/index.ts', below: layers.map(({ path }) => path) }, 'src') },
  ...layers
    .toSorted((a, b) => a.path.split('/').length - b.path.split('/').length)
    .flatMap((layer) =>
      depths.map((depth) => ({
        files: [`${layer.path}${depth}/*.ts`, `${layer.path}${depth}/*.tsx`],
        rules: rules(layer, `${layer.path}${depth.replace('/**', '')}`),
      })),
    ),
]
