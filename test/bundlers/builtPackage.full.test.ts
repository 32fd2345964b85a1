import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cliCommand } from '../../packages/cli/test/cliChild.ts'
import { forLater, importing, loaded, started } from '../runtime/startedProcess.ts'
import { build, type Rolldown } from 'vite'
import { createMachine } from 'xstate'
import { chart } from '../../packages/charts/src/chart.ts'
import { assert, describe } from '../support/suite.ts'
import { packedPackage } from './packedPackage.ts'

type Exports = Readonly<Record<string, unknown>>

const repository = join(import.meta.dirname, '..', '..')
const { exports: doors } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}
/** Files of the doors, in the package and of the sources. */
const files = Object.values(doors).flatMap((target) =>
  typeof target === 'string'
    ? []
    : [{ built: target.default, source: target.default.replace(/^\.\/dist\/(\w+)\.js$/, 'src/$1.ts') }],
)
const load = async (path: string): Promise<Exports> => (await import(pathToFileURL(path).href)) as Exports

/** Bundle of a program that uses some of the main door, without packages. */
async function bundleOf(folder: string, names: string): Promise<Rolldown.OutputChunk> {
  const program = `export { ${names} } from ${JSON.stringify(join(folder, 'dist/index.js'))}`
  const made = await build({
    configFile: false,
    root: folder,
    logLevel: 'silent',
    plugins: [
      {
        name: 'program',
        enforce: 'pre',
        resolveId: (id) => (id === 'program' ? id : null),
        load: (id) => (id === 'program' ? program : null),
      },
    ],
    build: {
      ssr: true,
      write: false,
      // For Node it would add an import of its own.
      rolldownOptions: { input: 'program', platform: 'neutral', output: { codeSplitting: false } },
    },
  })
  return ([made].flat() as [Rolldown.RolldownOutput])[0].output[0]
}

/** Packages that not everybody installs. */
const optional = /\/node_modules\/(?:@|ws\/)/

/** The first build is waited for by whichever case comes first. */
const timeoutMs = 120_000

describe('the built package', (it) => {
  it('exports what the sources export, and nothing besides', { timeoutMs }, async ({ signal }) => {
    const folder = await packedPackage(signal)
    for (const { built, source } of files) {
      const names = Object.keys(await load(join(folder, built))).toSorted()
      assert.equal(names, Object.keys(await load(join(repository, source))).toSorted(), built)
    }
  })

  it(
    'says of its hooks that they are for browsers, as components of servers need it',
    { timeoutMs },
    async ({ signal }) => {
      const folder = await packedPackage(signal)
      assert.match(readFileSync(join(folder, 'dist/react.js'), 'utf8'), /^["']use client["']/)
    },
  )

  it('has what its doors share once', { timeoutMs }, async ({ signal }) => {
    const folder = await packedPackage(signal)
    const everywhere = await Promise.all(files.map(({ built }) => load(join(folder, built))))
    const byName = new Map<string, unknown>()
    for (const [name, value] of everywhere.flatMap((door) => Object.entries(door))) {
      assert.is(byName.get(name) ?? value, value, name)
      byName.set(name, value)
    }
    const [main, client] = [await load(join(folder, 'dist/index.js')), await load(join(folder, 'dist/client.js'))]
    assert.is(main['RuntimeError'], client['RuntimeError'])
  })

  it('draws as the sources do, with the one ELK that the page has too', { timeoutMs }, async ({ signal }) => {
    const folder = await packedPackage(signal)
    const machine = createMachine({ id: 'lamp', initial: 'off', states: { off: { on: { PRESS: 'on' } }, on: {} } })
    const { chart: built } = await load(join(folder, 'dist/charts.js'))
    assert.is(await (built as typeof chart)(machine, { format: 'svg' }), await chart(machine, { format: 'svg' }))
    const all = readdirSync(join(folder, 'dist'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    const ofElk = all.filter(({ parentPath, name }) =>
      readFileSync(join(parentPath, name), 'utf8').includes('org.eclipse.elk.layered.'),
    )
    assert.equal(
      ofElk.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll('\\', '/')),
      ['dist/inspector/assets/layoutWorker.js'],
    )
  })

  it('names what it throws by whole names, in whole lines', { timeoutMs }, async ({ signal }) => {
    const { createRuntime } = await load(join(await packedPackage(signal), 'dist/index.js'))
    const thrown: unknown = await (createRuntime as (options: object) => Promise<unknown>)({ store: 7 }).catch(
      (error: unknown) => error,
    )
    assert.match((thrown as Error).stack!, /at (?:async )?createRuntime \(.*dist\/chunks\/\w+\.js:\d{2,}:\d{1,3}\)/)
  })

  it('lets a bundler leave out what is not used', { timeoutMs }, async ({ signal }) => {
    const folder = await packedPackage(signal)
    assert.equal((await bundleOf(folder, 'formatNodeId')).imports, [])
    const { imports, code } = await bundleOf(folder, 'agentMachine')
    assert.equal(imports.toSorted(), ['xstate', 'zod'])
    assert.not.match(code, /function (?:createRuntime|workspaceTools|fileStore)\b/)
  })

  it('starts without what is for later', { timeoutMs }, async (context) => {
    const folder = await packedPackage(context.signal)
    const library = await started(context, importing(join(folder, 'dist/index.js')))
    assert.equal(loaded(library, forLater), [])
    assert.equal(loaded(library, /^node:/), [])
    // That of whoever installs it, and not the one that it was built with.
    assert.ok(loaded(library, /\/node_modules\/xstate\/package\.json$/).length > 0)
    const own = loaded(library, /\/escapement\/dist\//)
    assert.ok(own.length <= 20, `${own.length} files of its own were loaded`)
    const client = await started(context, importing(join(folder, 'dist/client.js')))
    assert.equal(loaded(client, /^node:|\/node_modules\//), [])
    const help = await started(context, cliCommand(['--help'], join(folder, 'dist/cli.js')).slice(1))
    assert.equal(loaded(help, /\/node_modules\/|^node:(?!util$|process$)/), [])
    const command = await started(context, cliCommand(['chart'], join(folder, 'dist/cli.js')).slice(1))
    assert.equal(loaded(command, optional), [])
    assert.ok(help.modules.length <= 6, `${help.modules.length} modules were loaded for the help`)
  })
})
