import { join, relative, sep } from 'node:path'
import { build, type Plugin, type Rolldown } from 'vite'
import { builtinsAtFirstUse } from './builtinsAtFirstUse.ts'
import { doors } from './doors.ts'
import { reachedFrom } from './reachedFrom.ts'

const root = join(import.meta.dirname, '..')
const source = (path: string): string => join(root, path)
const pathOf = (id: string): string => relative(root, id).split(sep).join('/')

const commandLine = source('packages/cli/src/main.ts')
const commandFolder = 'packages/cli/src/commands/'

/** Parts of the package that need a module at once; `library`: some door needs it, perhaps later. */
type Part = 'commandLine' | 'command' | 'index' | 'client' | 'aiSdk' | 'bridge' | 'light' | 'listing' | 'library'

/** Chunks of the modules that the main door needs. */
const chunksOfIndex: readonly (readonly [path: RegExp, chunk: string])[] = [
  [/^src\/protocol\/|^packages\/(?:wire|words)\//, 'protocol'],
  [/^src\/conversation\//, 'conversation'],
  [/^src\/machines\//, 'machines'],
  [/^packages\/tools\/src\/(?:workspace|files)\//, 'workspace'],
  [
    /^src\/(?:actors|log\/redaction)\/|^packages\/(?:policies|models|define|redaction|schemas|ai-sdk\/src\/adapters|tools\/src\/(?:permissions|schedules|skills|finding|remembering))\/|\/memoryRules\.ts$/,
    'actors',
  ],
  [/^packages\/charts\//, 'charts'],
  [/^packages\/groups\//, 'groups'],
  [/^packages\/stores\//, 'stores'],
  [/^src\/log\//, 'log'],
  [/^packages\/sessions\//, 'sessions'],
  [/^src\/runtime\/|^packages\/(?:runtime|waking)\/|\/createRuntime\.ts$/, 'runtime'],
]

/**
 * The chunk of a module; `null`: where the bundler puts it. By folder, so that a bundler of users can leave out what they do not use, and
 * so that what a help text or a browser needs brings nothing else along. Pure.
 */
function chunkOf(path: string, isFor: (part: Part) => boolean): string | null {
  // It knows its own place.
  if (path === 'packages/charts/src/packageFile.ts') return 'packageFile'
  if (isFor('commandLine')) return isFor('library') ? 'errors' : 'commandLine'
  if (!isFor('library')) {
    if (!isFor('command') || path.startsWith(commandFolder)) return null
    return isFor('listing') ? 'listing' : 'commands'
  }
  if (!isFor('index')) return isFor('bridge') && !isFor('light') ? 'bridge' : null
  // Beside what models need: tools alone do.
  if (
    /^packages\/schemas\/src\/(?:schemaCheck|soundSchema|schemaPatterns|linearPattern|patternSyntax)\.ts$|\/pi-schema\//.test(
      path,
    )
  )
    return 'jsonSchema'
  // Apart from the schemas, so that it brings no zod to browsers.
  if (isFor('client')) return 'clientShared'
  if (isFor('aiSdk'))
    return /^(?:src\/(?:actors|log\/redaction)|packages\/(?:ai-sdk\/src\/adapters|schemas))\//.test(path)
      ? 'models'
      : 'protocol'
  if (isFor('listing')) return 'reading'
  return chunksOfIndex.find(([folder]) => folder.test(path))?.[1] ?? null
}

/** Makes the entries of the package in a folder: what they share is in chunks, and so there once. */
export async function bundleEntries(outDir: string, plugins: readonly Plugin[]): Promise<void> {
  const names = doors()
  const entries = new Map([...names.map((name) => [name, source(`src/${name}.ts`)] as const), ['cli', commandLine]])
  const parts = new Map<Part, ReadonlySet<string>>()
  const layout: Plugin = {
    name: 'layout',
    buildEnd() {
      const needs = (modules: readonly string[], later = false): ReadonlySet<string> =>
        reachedFrom(modules, (id) => this.getModuleInfo(id), later)
      for (const name of ['index', 'client', 'aiSdk'] as const) parts.set(name, needs([entries.get(name)!]))
      parts.set(
        'library',
        needs(
          names.map((name) => entries.get(name)!),
          true,
        ),
      )
      // Doors that a program may take without a runtime.
      parts.set('light', needs(['client', 'react', 'aiSdk', 'acp', 'agUi'].map((name) => entries.get(name)!)))
      parts.set('bridge', needs([source('packages/bridge/src/inProcess/inProcessServer.ts')]))
      parts.set(
        'listing',
        needs([source('packages/cli/src/commands/sessions.ts'), source('packages/stores/src/fileStore.ts')]),
      )
      // The entry loads it only then, so that what Node compiles of it is kept.
      parts.set('commandLine', needs([source('packages/cli/src/runCli.ts')]))
      // Not what a command itself loads later, such as an optional package.
      parts.set('command', needs([...needs([commandLine], true)].filter((id) => pathOf(id).startsWith(commandFolder))))
    },
    renderChunk: (code) => ({ code: asciiOnly(withAttributes(code)), map: null }),
    generateBundle: (_options, bundle) => refuseCycles(bundle),
  }
  const isEntry = new Set(entries.values())
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [...plugins, builtinsAtFirstUse(), layout],
    // Dependencies of development are not there where the package is.
    ssr: { noExternal: ['@earendil-works/pi-schema', 'marked', 'smol-toml'] },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: 'es2024',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(entries),
        // Some of it runs in browsers: for Node the bundler would add an import of `node:module`.
        platform: 'neutral',
        // It is to say which version runs, not which one was there when this was built.
        external: ['xstate/package.json'],
        // 'use client' of the door for React is kept, as it is one of an entry: test/bundlers looks.
        onLog: (level, log, handle) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : handle(level, log)),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: ({ facadeModuleId }) =>
            facadeModuleId != null && pathOf(facadeModuleId).startsWith(commandFolder)
              ? 'chunks/cli/[name].js'
              : 'chunks/[name].js',
          comments: { legal: true, annotation: true, jsdoc: false },
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [
              {
                debugName: 'parts',
                name: (id) => (isEntry.has(id) ? null : chunkOf(pathOf(id), (part) => parts.get(part)!.has(id))),
              },
            ],
          },
        },
      },
    },
  })
}

/** Restores the attribute of JSON imports, which the bundler drops. */
const withAttributes = (code: string): string =>
  code.replaceAll(/^(import \w+ from "[^"]+\.json");$/gm, '$1 with { type: "json" };')

/** One character beyond ASCII makes the engine hold and read a whole file with two bytes a character. In code they only stand in literals. */
const asciiOnly = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Throws if chunks import each other in a cycle, in which a class could be used before it is defined. */
function refuseCycles(bundle: Rolldown.OutputBundle): void {
  const done = new Set<string>()
  const visit = (fileName: string, path: readonly string[]): void => {
    if (path.includes(fileName)) throw new Error(`Chunks import one another: ${[...path, fileName].join(' → ')}`)
    const chunk = bundle[fileName]
    if (done.has(fileName) || chunk?.type !== 'chunk') return
    for (const imported of chunk.imports) visit(imported, [...path, fileName])
    done.add(fileName)
  }
  for (const fileName of Object.keys(bundle)) visit(fileName, [])
}
