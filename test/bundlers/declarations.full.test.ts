import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startChild } from '../../packages/cli/test/cliChild.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'
import { packedPackage } from './packedPackage.ts'

const repository = join(import.meta.dirname, '..', '..')
const installed = (name: string): string => join(repository, 'node_modules', name)
const typeTests = join(repository, 'test', 'types')

const { exports: doors, dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  dependencies: Readonly<Record<string, string>>
}

/** Doors whose types are of an optional package, which is all that may be missing. */
const needing: Readonly<Record<string, string | readonly string[]>> = {
  './otel': '@opentelemetry/api',
  './react': 'react',
  './restate': ['@restatedev/restate-sdk', '@restatedev/restate-sdk-clients'],
}

const mcpProgram = `
import { createRuntime, defineAgent, policyModel } from 'escapement'
import { fileAuth, mcpServer, mcpTools, type McpAuth } from 'escapement/mcp'

const auth: McpAuth = fileAuth('tokens')
const tools = [mcpTools({ name: 'tickets', url: 'https://tickets.example.org/mcp', auth })]
const clerk = defineAgent({ name: 'clerk', model: policyModel(() => 'ok'), tools })
const runtime = await createRuntime()
await runtime.serve({ definitions: [clerk], endpoints: [mcpServer(runtime, [clerk]).endpoint()] })
`

/** Types that several doors have are the same through each, also classes with private members. */
const sharedProgram = `
import { createRuntime, defineAgent, RuntimeError, type Agent, type Store } from 'escapement'
import { RuntimeError as ErrorOfClients } from 'escapement/client'
import { policy, type PolicyOptions } from 'escapement/policies'
import { SessionProjection } from 'escapement/sessions'
import { sqliteStore } from 'escapement/sqlite'
import { scriptedModel, simulatedClock } from 'escapement/testing'

export const thrown: ErrorOfClients = new RuntimeError('ABORTED', 'It was aborted.')
export const caught: RuntimeError = new ErrorOfClients('ABORTED', 'It was aborted.')
export const store: Store = sqliteStore('sessions.db')
const runtime = await createRuntime({ store, clock: simulatedClock() })
export const open = (options: PolicyOptions): Promise<Agent> =>
  runtime.spawn(defineAgent({ name: 'clerk', model: scriptedModel([]), braking: { policies: [policy(options)] } }))
// @ts-expect-error A class of the same shape would do, were its members not private.
export const other: SessionProjection = {} as { [key in keyof SessionProjection]: SessionProjection[key] }
`

/** Whatever functions give can be exported by a user whose build emits declarations: each type has a name that a door exports, or none. */
const exportingProgram = `
import { createRuntime, defineAgent, defineConfig, defineTool, fallback, fileStore, policyModel, router, skillTools, workspaceTools, type ToolSource } from 'escapement'
import { acp } from 'escapement/acp'
import { agUi } from 'escapement/ag-ui'
import { chart, conversationGraph } from 'escapement/charts'
import { connect, conversationStore, escapementChat } from 'escapement/client'
import { each, parallel, pipeline, race } from 'escapement/groups'
import { mcpServer, mcpTools } from 'escapement/mcp'
import { markdownMemory, sqliteMemory } from 'escapement/memory'
import { openApiTools } from 'escapement/openapi'
import { compositions, decide, keep, modelScorer, policy, when } from 'escapement/policies'
import { exportSession, forkSession, listSessions, loadSession, readHistory, rebuildConversation, requestsOf, searchSessions, sessionOf, copySessions, capturedRequests, checkRequest } from 'escapement/sessions'
import { sqliteStore } from 'escapement/sqlite'
import { stately } from 'escapement/stately'
import { parseRecord, repairLog } from 'escapement/stores'
import { defineSuite, evaluate, memoryContract, modelContract, recordModel, replayModel, scriptedModel, simulatedClock, storeContract, workspaceContract } from 'escapement/testing'
import { dockerWorkspace, localWorkspace, memoryWorkspace } from 'escapement/workspaces'
import { agentLogic } from 'escapement/xstate'
import { z } from 'zod'

declare const source: ToolSource
export const model = policyModel(() => 'ok')
export const models = [fallback([model]), router(() => model), scriptedModel(['ok']), recordModel(model, 'file'), await replayModel('file')]
export const refund = defineTool({ name: 'refund', description: 'Pays.', input: z.object({ order: z.string() }), run: ({ order }) => order })
export const clerk = defineAgent({ name: 'clerk', model, tools: [refund, ...workspaceTools('.')] })
export const workspaces = [localWorkspace('.'), memoryWorkspace({ a: '' }), dockerWorkspace({ image: 'node:24' })]
export const boxed = workspaceTools(workspaces[2]!, { workspace: 'own' })
export const teller = defineAgent({ name: 'teller', model, output: z.object({ city: z.string() }), deps: z.object({ user: z.string() }) })
export const lead = defineAgent({ name: 'lead', model, agents: [clerk, { definition: clerk, stallMs: 3 }], tools: [source, skillTools(['skills'])] })
export const caller = defineAgent({ name: 'caller', model, tools: [mcpTools({ name: 'tickets', url: 'https://example.org' }), refund] })
export const braked = defineAgent({ name: 'braked', model, braking: { fold: true, stall: true, policies: [policy({ name: 'p', when: when.tokensOver(5), decide: decide.oldest(), keep: keep.nothing() })] } })
export const parts = { trigger: when.tokensOver(5), decider: decide.oldest(), keeper: keep.nothing(), scorer: modelScorer(), composition: compositions.layered() }
export const [files, database, config] = [fileStore('logs'), sqliteStore('logs.db'), defineConfig({ agents: [clerk] })]
export const memories = { markdown: markdownMemory('memory'), sqlite: sqliteMemory('memory.db') }
export const runtime = await createRuntime({ store: files, clock: simulatedClock() })
export const agent = await runtime.spawn(clerk)
export const known = await runtime.open('teller-1', teller, { deps: { user: 'u1' } })
export const run = agent.prompt('Pay.')
export const result = await run.result
export const answer = await known.prompt('Where?').result
export const facts = { pending: agent.pending(), approvals: agent.approvals(), tree: agent.tree(), spent: agent.spent, use: agent.inUse, conversation: agent.conversation, trunk: agent.conversation.trunk() }
export const settled = () => agent.settled()
export async function* events() { yield* agent.events() }
export const [resumed, waiting] = [await runtime.resumeAll({ definitions: [clerk] }), await runtime.waiting()]
export const server = await runtime.serve({ endpoints: [acp(), agUi(), stately(), mcpServer(runtime, [clerk]).endpoint()] })
export const link = server.shareLink(agent.id)
export const group = { all: await parallel(runtime, [clerk, lead], 'Pay.'), first: await race(runtime, [clerk, lead], 'Pay.'), last: await pipeline(runtime, [clerk, (text: string) => text, lead], 'Pay.') }
export const batch = each(runtime, clerk, [1, 2], { prompt: (order) => String(order) })
export const answers = await batch.result
export const logic = agentLogic(runtime, clerk)
export const services = await openApiTools('openapi.json')
export const client = connect('ws://127.0.0.1/bridge')
export const remote = await client.spawn<typeof clerk>('clerk')
export const said = { result: await remote.prompt('Pay.').result, snapshot: await remote.snapshot(), conversation: await remote.conversation(), share: await remote.share() }
export const lists = { agents: await client.agents(), sessions: await client.sessions(), waiting: await client.waiting(), workers: await client.workers(), found: await client.search('x') }
export const [view, transport] = [conversationStore(remote), escapementChat()]
export const session = await loadSession(files, 'clerk-1')
export const sessions = { list: await listSessions(files), fork: await forkSession(files, 'clerk-1', 'n1'), found: await searchSessions(files, { text: 'x' }), history: await readHistory(files, 'clerk-1'), copied: await copySessions(files, database), lines: exportSession(files, 'clerk-1') }
export const read = { conversation: rebuildConversation(session.records), session: sessionOf(session.records), requests: requestsOf(session.records), captured: capturedRequests(session.records), record: parseRecord({}), repair: await repairLog('file') }
export const wrong = [...read.captured].map(({ request }) => checkRequest(request))
export const drawn = { text: chart(clerk), model: chart(clerk, { format: 'json' }), svg: chart(clerk, { format: 'svg' }), graph: conversationGraph(session, { format: 'json' }) }
export const contracts = { store: storeContract({ create: () => files }), memory: memoryContract({ create: () => memories.markdown }), model: modelContract({ create: () => model }), workspace: workspaceContract({ create: () => memoryWorkspace() }) }
export const suite = defineSuite({ tasks: [] })
export const evaluation = (...given: Parameters<typeof evaluate>) => evaluate(...given)
`

/** A project with the declarations of the package, and with these packages of the repository beside it. */
async function project({ cleanup, signal }: CaseContext, packages: readonly string[]): Promise<string> {
  const packed = await packedPackage(signal)
  const folder = await mkdtemp(join(tmpdir(), 'escapement-types-'))
  cleanup(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const modules = join(folder, 'node_modules')
  await cp(join(packed, 'dist'), join(modules, 'escapement', 'dist'), {
    recursive: true,
    filter: (path) => !/\.(?:js|css|html|svg)$/.test(path),
  })
  await cp(join(packed, 'package.json'), join(modules, 'escapement', 'package.json'))
  for (const name of packages) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(installed(name), join(modules, name), 'junction')
  }
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

/** Compiles the files of a project, and gives the lines that say what is wrong. */
async function problemsOf(context: CaseContext, folder: string, options: object): Promise<readonly string[]> {
  const target = { target: 'es2024', module: 'nodenext', types: ['node'] }
  const compilerOptions = { strict: true, noEmit: true, ...target, ...options }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = installed(join('typescript', 'bin', 'tsc'))
  const command = [process.execPath, tsc, '--singleThreaded', '--pretty', 'false', '-p', folder]
  const { stdout } = await startChild(context, command, { cwd: dirname(folder), input: '' }).ended
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}

const plain = [...Object.keys(dependencies), '@types/node', 'undici-types']
/** Packages that the type tests import besides, and those of their types. */
const ofTypeTests = [
  '@ai-sdk/anthropic',
  '@ai-sdk/provider',
  '@modelcontextprotocol/client',
  '@opentelemetry/api',
  '@types/pg',
  '@types/react',
  '@xstate/react',
  'ai',
  'pg',
  'react',
  'xstate-5-20',
  'xstate-5-28',
]

/** Names that a door exports, of its source and of its declarations alike: a function with several signatures is declared several times. */
const exportedNames = (code: string): readonly string[] => {
  const found = [...code.matchAll(/^export (?:type )?\{([^}]*)\}|^export declare (?:abstract )?\w+ (\w+)/gm)]
    .flatMap(([, list, name]) => list?.split(',') ?? [name!])
    .map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .replace(/^.* as /, ''),
    )
    .filter((name) => name !== '')
  return [...new Set(found)].toSorted()
}

/** The text of a door; of one that hands on all of another file, the text of that. */
async function sourceOf(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  const [, way] = /^export \* from '(.+)'$/m.exec(text) ?? []
  return way === undefined ? text : sourceOf(join(dirname(path), way))
}

/** The first build is waited for by whichever case comes first. */
const timeoutMs = 240_000

describe('the declarations of the package', (it) => {
  it('need no optional package, but where a door is for that package alone', { timeoutMs }, async (context) => {
    const folder = await project(context, plain)
    for (const [door, target] of Object.entries(doors))
      if (typeof target === 'object')
        await writeFile(
          join(folder, `${door.replaceAll(/\W/g, '_')}.ts`),
          `export * from 'escapement${door.slice(1)}'\n`,
        )
    await writeFile(join(folder, 'program.ts'), mcpProgram)
    await writeFile(join(folder, 'shared.ts'), sharedProgram)
    const problems = await problemsOf(context, folder, { skipLibCheck: false })
    const missing = problems.map((line) => /error TS2307: Cannot find module '([^']+)'/.exec(line)?.[1] ?? line)
    assert.equal([...new Set(missing)].toSorted(), Object.values(needing).flat().toSorted(), problems.join('\n'))
  })

  it('let a user export whatever functions give, and emit declarations of it', { timeoutMs }, async (context) => {
    const folder = await project(context, plain)
    await writeFile(join(folder, 'program.ts'), exportingProgram)
    const options = { declaration: true, noEmit: false, emitDeclarationOnly: true, outDir: 'out', skipLibCheck: true }
    assert.equal(await problemsOf(context, folder, options), [])
  })

  it('say what the sources say: what holds of the types of those holds of theirs', { timeoutMs }, async (context) => {
    const folder = await project(context, [...plain, ...ofTypeTests])
    const ofDoor = new Map(
      Object.entries(doors).flatMap(([door, target]) =>
        typeof target === 'string'
          ? []
          : [[target.default.replace(/^\.\/dist\/(\w+)\.js$/, '../../src/$1.ts'), `escapement${door.slice(1)}`]],
      ),
    )
    for (const name of await readdir(typeTests)) {
      const code = await readFile(join(typeTests, name), 'utf8')
      const moved = code.replaceAll(/'(\.\.\/\.\.\/src\/\w+\.ts)'/g, (_, source: string) => `'${ofDoor.get(source)}'`)
      assert.not.match(moved, /\/src\//)
      await writeFile(join(folder, name), moved)
    }
    const { compilerOptions } = JSON.parse(await readFile(join(repository, 'tsconfig.json'), 'utf8')) as {
      compilerOptions: object
    }
    assert.equal(await problemsOf(context, folder, compilerOptions), [])
  })

  it('name what the sources name, with its comments, in few files', { timeoutMs }, async ({ signal }) => {
    const packed = await packedPackage(signal)
    const types = new Map<string, string>()
    for (const name of await readdir(join(packed, 'dist', 'types')))
      types.set(
        `./types/${name.replace(/\.d\.ts$/, '.js')}`,
        await readFile(join(packed, 'dist', 'types', name), 'utf8'),
      )
    assert.ok(types.size <= 21, [...types.keys()].join())
    for (const target of Object.values(doors)) {
      if (typeof target === 'string') continue
      const [code, source] = await Promise.all([
        readFile(join(packed, target.types), 'utf8'),
        sourceOf(join(repository, target.default.replace(/^\.\/dist\/(\w+)\.js$/, 'src/$1.ts'))),
      ])
      assert.equal(exportedNames(code), exportedNames(source), target.types)
      const values = Object.keys((await import(pathToFileURL(join(packed, target.default)).href)) as object)
      const places = [code, ...types.values()]
      for (const name of values) {
        const declared = new RegExp(String.raw`(.*)\n(?:export )?declare (?:const|function|class) ${name}\b`)
        const before = places.flatMap((place) => declared.exec(place)?.[1] ?? [])
        assert.ok(
          before.some((line) => line.endsWith('*/')),
          `${name} of ${target.types} has no comment: ${before.join()}`,
        )
      }
    }
  })
})
