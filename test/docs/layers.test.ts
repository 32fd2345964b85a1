import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const repository = join(import.meta.dirname, '..', '..')
const present = readdirSync(join(repository, 'src')).filter((name) => name.endsWith('.ts'))
const doors = new Set(['index.ts', 'client.ts', 'testing.ts', 'aiSdk.ts'].concat(present))

interface Plant {
  readonly file: string
  readonly codes: readonly string[]
  /** What the rule's message must say of each line of code; `undefined`: all of them are legal. */
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
const doorsFrom = (way: string): readonly string[] => [...doors].map((door) => from(`${way}${door}`))
const nodeModules = ['node:fs', 'node:fs/promises', 'node:child_process', 'fs'].map(from)

const plants: readonly Plant[] = [
  breaches(
    /protocol imports only zod/,
    'src/protocol/x.ts',
    ...everywhere('node:fs/promises'),
    ...everywhere('../conversation/tree.ts'),
    ...['xstate', 'ws', 'nanoid', '../index.ts', '../machines/m.ts', '../runtime/r.ts', './../actors/a.ts'].map(from),
    typeFrom('../runtime/r.ts'),
  ),
  legal('src/protocol/x.ts', from('zod'), from('./ids.ts')),

  breaches(
    /conversation imports only protocol/,
    'src/conversation/x.ts',
    ...nodeModules,
    ...['xstate', 'zod', 'ws', '../machines/m.ts', '../actors/a.ts', '../runtime/log/l.ts', '../index.ts'].map(from),
    typeFrom('../actors/a.ts'),
  ),
  breaches(/conversation imports only protocol/, 'src/conversation/deep/x.ts', from('../../actors/a.ts'), from('zod')),
  legal('src/conversation/x.ts', from('../protocol/ids.ts'), from('./tree.ts'), from('./deep/x.ts')),
  legal('src/conversation/deep/x.ts', from('../../protocol/ids.ts'), from('../tree.ts')),

  breaches(
    /machines imports only protocol and xstate/,
    'src/machines/x.ts',
    ...nodeModules,
    ...['zod', 'ws', 'nanoid', '../conversation/c.ts', '../actors/a.ts', '../runtime/r.ts', '../testing.ts'].map(from),
    typeFrom('../actors/a.ts'),
  ),
  breaches(
    /machines imports only protocol and xstate/,
    'src/machines/states/x.ts',
    ...['../../conversation/c.ts', '../../actors/a.ts', '../../index.ts', 'node:fs/promises'].map(from),
  ),
  legal(
    'src/machines/x.ts',
    'export const $ = Math.max(1, 2)',
    from('xstate'),
    from('../protocol/ids.ts'),
    from('./guards.ts'),
    from('./states/idle.ts'),
  ),
  legal(
    'src/machines/states/x.ts',
    from('xstate'),
    from('../../protocol/ids.ts'),
    from('../guards.ts'),
    from('./idle.ts'),
  ),

  breaches(
    /actors imports only/,
    'src/actors/x.ts',
    ...everywhere('../runtime/r.ts'),
    ...['ws', 'nanoid', '../index.ts', '../aiSdk.ts', '@ai-sdk/provider'].map(from),
    typeFrom('../runtime/r.ts'),
    typeFrom('ws'),
  ),
  breaches(/actors imports only/, 'src/actors/tools/x.ts', from('../../runtime/r.ts'), from('ws')),
  breaches(
    /actors imports only/,
    'src/actors/tools/deep/x.ts',
    from('../../../runtime/r.ts'),
    from('../../../index.ts'),
  ),
  breaches(/actors imports machines by/, 'src/actors/x.ts', ...everywhere('../machines/m.ts')),
  breaches(/actors imports machines by/, 'src/actors/tools/x.ts', from('../../machines/m.ts')),
  breaches(/actors imports machines by/, 'src/actors/tools/deep/x.ts', from('../../../machines/m.ts')),
  legal(
    'src/actors/x.ts',
    typeFrom('../machines/m.ts'),
    ...[
      'xstate',
      'zod',
      'node:fs',
      'node:fs/promises',
      '../protocol/ids.ts',
      '../conversation/c.ts',
      './tools/t.ts',
    ].map(from),
  ),
  legal('src/actors/tools/x.ts', from('../sleep.ts'), from('../../conversation/c.ts'), typeFrom('../../machines/m.ts')),
  legal('src/actors/tools/deep/x.ts', from('../../sleep.ts'), from('../t.ts'), from('../../../protocol/ids.ts')),

  breaches(/actors\/models imports/, 'src/actors/models/x.ts', from('../../runtime/r.ts'), from('ws')),
  breaches(/actors\/models imports/, 'src/actors/models/deep/x.ts', from('../../../runtime/r.ts'), from('ws')),
  breaches(/actors imports machines by/, 'src/actors/models/x.ts', from('../../machines/m.ts')),
  breaches(/actors imports machines by/, 'src/actors/models/deep/x.ts', from('../../../machines/m.ts')),
  breaches(/Only the types of @ai-sdk\/provider/, 'src/actors/models/x.ts', from('@ai-sdk/provider')),
  breaches(/Only the types of @ai-sdk\/provider/, 'src/actors/models/deep/x.ts', ...everywhere('@ai-sdk/provider')),
  legal(
    'src/actors/models/deep/x.ts',
    typeFrom('@ai-sdk/provider'),
    from('../x.ts'),
    from('../../../protocol/model.ts'),
  ),

  breaches(
    /runtime imports its own files/,
    'src/runtime/log/x.ts',
    ...everywhere('ws'),
    ...nodeModules,
    from('@ai-sdk/provider'),
    from('uvu'),
  ),
  breaches(
    /runtime imports its own files/,
    'src/runtime/x.ts',
    ...nodeModules,
    ...['ws', 'elkjs', '@ag-ui/core'].map(from),
  ),
  breaches(/runtime imports its own files/, 'src/runtime/bridge/x.ts', ...nodeModules),
  breaches(/runtime\/tracing imports/, 'src/runtime/tracing/x.ts', ...nodeModules, from('ws')),
  legal('src/runtime/tracing/x.ts', from('@opentelemetry/api'), from('../agent.ts'), from('../../protocol/tracer.ts')),
  breaches(/runtime imports its own files/, 'src/runtime/stores/x.ts', from('ws')),
  breaches(/runtime imports its own files/, 'src/runtime/cli/x.ts', from('ws')),
  breaches(/runtime does not import the doors/, 'src/runtime/x.ts', ...doorsFrom('../')),
  ...['log', 'bridge', 'stores'].map((folder) =>
    breaches(/runtime does not import the doors/, `src/runtime/${folder}/x.ts`, ...doorsFrom('../../')),
  ),
  ...['log', 'bridge', 'stores', 'cli'].map((folder) =>
    breaches(/src imports nothing outside/, `src/runtime/${folder}/x.ts`, from('../../../test/support/suite.ts')),
  ),
  legal(
    'src/runtime/log/x.ts',
    ...['zod', 'xstate', 'nanoid', 'node:http', 'node:stream/promises', '../budget.ts', './y.ts'].map(from),
    ...['../../protocol/ids.ts', '../../conversation/c.ts', '../../machines/m.ts', '../../actors/a.ts'].map(from),
  ),
  legal('src/runtime/bridge/x.ts', from('ws'), from('node:http')),
  legal('src/runtime/stores/x.ts', ...['node:fs', 'node:fs/promises', 'node:child_process'].map(from)),
  legal('src/runtime/cli/x.ts', ...['node:fs/promises', 'node:child_process', '../../index.ts'].map(from)),

  breaches(/runtime\/acp imports/, 'src/runtime/acp/x.ts', ...nodeModules, from('@ag-ui/core')),
  breaches(/runtime\/agUi imports/, 'src/runtime/agUi/x.ts', ...nodeModules, from('@agentclientprotocol/sdk')),
  breaches(/runtime\/charts imports/, 'src/runtime/charts/x.ts', ...nodeModules, from('ws')),
  legal('src/runtime/acp/x.ts', from('@agentclientprotocol/sdk'), from('../agent.ts')),
  legal('src/runtime/agUi/x.ts', from('@ag-ui/core'), from('../agent.ts')),
  legal('src/runtime/charts/x.ts', from('elkjs/lib/elk-api.js'), from('../agent.ts')),
  legal('src/runtime/inspector/x.ts', from('node:fs/promises'), from('../charts/chart.ts')),
  breaches(
    /the inspector page runs in browsers/,
    'src/runtime/inspector/page/x.ts',
    ...[
      'node:fs/promises',
      'node:path',
      'zod',
      'xstate',
      '../servePage.ts',
      '../../runtime.ts',
      '../../bridge/serve.ts',
    ].map(from),
  ),
  breaches(
    /the inspector page runs in browsers/,
    'src/runtime/inspector/page/model/x.ts',
    ...['node:path', 'xstate', '../../servePage.ts', '../../../runtime.ts', '../../../../machines/m.ts'].map(from),
  ),
  legal(
    'src/runtime/inspector/page/x.ts',
    ...[
      '../../../protocol/ids.ts',
      '../../../client.ts',
      '../../../conversation/c.ts',
      '../../sessions/s.ts',
      './y.ts',
      'preact',
    ].map(from),
  ),
  legal(
    'src/runtime/inspector/page/model/x.ts',
    ...[
      '../../../../client.ts',
      '../../../../conversation/c.ts',
      '../../../charts/c.ts',
      '../views/v.tsx',
      '@preact/signals',
    ].map(from),
  ),

  breaches(
    /a door imports only files of src/,
    'src/index.ts',
    from('zod'),
    from('node:fs/promises'),
    from('../test/run.ts'),
  ),
  breaches(/a door imports only files of src/, 'src/testing.ts', from('uvu'), from('node:fs')),
  legal(
    'src/index.ts',
    `export { a as $ } from './runtime/runtime.ts'`,
    `export type { a as $ } from './protocol/ids.ts'`,
  ),
  breaches(
    /aiSdk imports only/,
    'src/aiSdk.ts',
    from('./runtime/runtime.ts'),
    from('node:fs'),
    from('@ai-sdk/anthropic'),
  ),
  breaches(/Only the types of @ai-sdk\/provider/, 'src/aiSdk.ts', from('@ai-sdk/provider')),
  legal('src/aiSdk.ts', typeFrom('@ai-sdk/provider'), from('./actors/models/m.ts'), from('./protocol/model.ts')),
  breaches(
    /client runs in browsers/,
    'src/client.ts',
    ...nodeModules,
    from('node:http'),
    ...['./runtime/r.ts', './index.ts', 'xstate'].map(from),
  ),
  breaches(/client runs in browsers/, 'src/client/x.ts', ...nodeModules, from('../runtime/r.ts'), from('../index.ts')),
  legal('src/client.ts', ...['./protocol/ids.ts', './client/socket.ts', 'zod', 'ws'].map(from)),
  legal('src/client/x.ts', ...['../protocol/ids.ts', './socket.ts', 'zod'].map(from)),

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
    'src/x.ts',
    'src/protocol/x.ts',
    'src/protocol/anotherClock.ts',
    'src/actors/x.ts',
    'src/runtime/log/x.ts',
    'src/testing/simulatedClock.ts',
    'src/client/x.ts',
  ].map((file) =>
    breaches(/Time goes through the Clock port/, file, 'setTimeout(f, 1)', 'setInterval(f, 1)', 'Date.now()'),
  ),
  legal('src/protocol/systemClock.ts', 'export const $ = () => Date.now()', 'setTimeout(() => {}, 1)'),
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

/** Plants everything beside a copy of the configuration and runs oxlint once: `file:line` to what was said of it. */
async function lint({ cleanup, signal }: CaseContext): Promise<ReadonlyMap<string, string>> {
  const root = await mkdtemp(join(tmpdir(), 'escapement-layers-'))
  cleanup(() => rm(root, { recursive: true, force: true }))
  await copyFile(join(repository, '.oxlintrc.json'), join(root, '.oxlintrc.json'))
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
