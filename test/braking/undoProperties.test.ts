import * as fc from 'fast-check'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { workspaceTools } from '../../packages/tools/src/workspace/workspaceTools.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { MemorySnapshots } from '../../packages/stores/src/memory/memorySnapshots.ts'
import { createRuntime, defineAgent, defineTool, fileStore, memoryStore, type Agent } from '../../src/index.ts'
import { unfinished } from '../../src/protocol/undoLedger.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { z } from 'zod'
import { workspaceFolder } from '../../packages/tools/test/workspace/workspaceFolder.ts'
import { serveAgents } from '../../packages/bridge/test/server/bridgeHarness.ts'
import { someRuns } from '../support/seeds.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const paths = ['a.txt', 'b.txt', 'sub/c.txt'] as const
type Change = { readonly path: (typeof paths)[number]; readonly content: string | null }
type Move = Change & { readonly by: 'tool' | 'other' }

const change = fc.record<Change>({
  path: fc.constantFrom(...paths),
  content: fc.option(fc.string({ maxLength: 4 }), { nil: null }),
})
const move = fc
  .tuple(change, fc.constantFrom('tool' as const, 'tool' as const, 'other' as const))
  .map(([one, by]): Move => ({ ...one, by }))

const read = (dir: string, path: string): string | null => {
  const file = join(dir, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

function write(dir: string, { path, content }: Change): void {
  const file = join(dir, path)
  if (content === null) return rmSync(file, { force: true })
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, content)
}

const filesIn = (dir: string) => Object.fromEntries(paths.map((path) => [path, read(dir, path)]))

/** Carries out the moves, one a turn, and answers at their end. */
function mover(dir: string, moves: readonly Move[]) {
  const other = defineTool({
    name: 'other',
    description: 'Somebody else changes a file.',
    input: z.object({ path: z.string(), content: z.string().nullable() }),
    effects: 'none',
    run: (input) => write(dir, input as Change),
  })
  return defineAgent({
    name: 'mover',
    model: policyModel((_, { turnIndex }) => {
      const next = moves[turnIndex]
      if (next === undefined) return 'done'
      const { by, path, content } = next
      if (by === 'other') return { toolCalls: [{ name: 'other', input: { path, content } }] }
      return content === null
        ? { toolCalls: [{ name: 'delete_file', input: { path } }] }
        : { toolCalls: [{ name: 'write_file', input: { path, content } }] }
    }),
    tools: [...workspaceTools(dir, { snapshots: true }).filter(({ name }) => name !== 'run_command'), other],
    braking: { revert: true },
  })
}

async function all(store: Store): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read('m')) records.push(record)
  return records
}

/** A store with the beginning of a log, and the snapshots of before. */
async function storeOf(records: readonly LogRecord[], snapshots: MemorySnapshots): Promise<Store> {
  const store = memoryStore()
  const lease = await store.open('m')
  await store.append('m', records)
  await lease.release()
  return { ...store, snapshots }
}

const ended = (agent: Agent): Promise<void> =>
  new Promise((resolve) => {
    agent.subscribe(({ type }) => type === 'undo.end' && resolve())
  })

type Files = { readonly [path: string]: string | null }

/** Contents of each file before the first call from a turn on that changed it; earlier changes by others are theirs. */
const beforeCalls = (moves: readonly Move[], seen: readonly Files[], from: number): Files =>
  Object.fromEntries(
    paths.map((path) => {
      const isCall = (one: Move, turn: number): boolean =>
        turn >= from && one.by === 'tool' && one.path === path && (one.content !== null || seen[turn]![path] !== null)
      const turn = moves.findIndex(isCall)
      return [path, seen[turn < 0 ? from : turn]![path]!]
    }),
  )

/** Checks that everything said to be undone is as it was before, and all else as it stood. */
function checkLedger(
  before: Files,
  stood: Files,
  now: Files,
  { undone, kept }: { readonly undone: readonly string[]; readonly kept: readonly { readonly what: string }[] },
): void {
  for (const path of paths) {
    const isKept = kept.some(({ what }) => what === path)
    assert.not.ok(isKept && undone.includes(path), `${path} is said to be both`)
    if (undone.includes(path)) assert.is(now[path], before[path], `${path} is said to be undone`)
    else assert.is(now[path], stood[path], `${path} is ${isKept ? 'said to stand' : 'not named'}`)
  }
}

describe('what a ledger says of files', (it) => {
  it('is so, whatever tools and others did, wherever the revert goes', { timeoutMs: 60_000 }, async (context) => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 7 }), fc.nat(6), async (moves, cut) => {
        const { dir } = workspaceFolder(context, { 'a.txt': 'A', 'b.txt': 'B' })
        const target = Math.min(cut, moves.length - 1)
        const runtime = await createRuntime({ newId: () => 'q' })
        const seen: Files[] = []
        const agent = await runtime.spawn(mover(dir, moves), { id: 'm' })
        agent.subscribe(({ type }) => type === 'turn.start' && seen.push(filesIn(dir)))
        await agent.prompt('go').result
        const stood = filesIn(dir)
        const done = ended(agent)
        agent.revert(`n${target === 0 ? 1 : 2 * target}`, { category: 'failure', summary: 'no', undo: true })
        await done
        checkLedger(beforeCalls(moves, seen, target), stood, filesIn(dir), agent.conversation.tags().at(-1)!.tag.undo!)
        await runtime.close()
      }),
      { seed: 3, numRuns: someRuns(60) },
    )
  })

  it(
    'is so after a crash at any record of the undoing, with somebody at work before the restart',
    { timeoutMs: 60_000 },
    async (context) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(move, { minLength: 2, maxLength: 6 }),
          fc.nat(8),
          fc.option(change, { nil: undefined }),
          async (moves, left, meanwhile) => {
            const { dir } = workspaceFolder(context, { 'a.txt': 'A', 'b.txt': 'B' })
            const snapshots = new MemorySnapshots()
            const store = { ...memoryStore(), snapshots }
            const runtime = await createRuntime({ store, newId: () => 'q' })
            const agent = await runtime.spawn(mover(dir, moves), { id: 'm' })
            const seen: Files[] = []
            agent.subscribe(({ type }) => type === 'turn.start' && seen.push(filesIn(dir)))
            await agent.prompt('go').result
            const stood = filesIn(dir)
            const before = beforeCalls(moves, seen, 0)
            const done = ended(agent)
            agent.revert('n1', { category: 'failure', summary: 'no', undo: true })
            await done
            const records = await all(store)
            await runtime.close()
            // The files are as after the whole undoing, or as before: a crash may come on either side of each.
            const applied = records.findIndex(({ type }) => type === 'revert.applied')
            const kept = Math.min(applied + 1 + left, records.length)
            if (left % 2 === 1) for (const path of paths) write(dir, { path, content: stood[path]! })
            if (meanwhile !== undefined) write(dir, meanwhile)
            const found = filesIn(dir)
            const again = await createRuntime({
              store: await storeOf(records.slice(0, kept), snapshots),
              newId: () => 'p',
            })
            const restored = await again.resume('m', mover(dir, moves))
            const isOver = records.slice(0, kept).some(({ type }) => type === 'undo.end')
            const isOpen = () =>
              restored.conversation
                .tags()
                .at(-1)!
                .tag.undo!.kept.some(({ why }) => why === unfinished)
            while (isOpen()) await new Promise(setImmediate)
            const ledger = restored.conversation.tags().at(-1)!.tag.undo!
            const now = filesIn(dir)
            const undoneBefore = records
              .slice(applied, kept)
              .flatMap((record) => (record.type === 'undo.step' && record.undone ? record.call : []))
            for (const path of paths) {
              // What the log had as undone before the crash is not looked at again.
              const mayDiffer = meanwhile?.path === path || (left % 2 === 1 && undoneBefore.length > 0) || isOver
              if (ledger.undone.includes(path)) assert.ok(mayDiffer || now[path] === before[path], `${path}: undone`)
              else assert.is(now[path], found[path], `${path} is left as it was found`)
            }
            await again.close()
          },
        ),
        { seed: 5, numRuns: someRuns(60) },
      )
    },
  )

  it('holds for two agents that write one file', async (context) => {
    const { dir } = workspaceFolder(context, { 'a.txt': 'A' })
    const runtime = await createRuntime()
    const [one, two] = [
      await runtime.spawn(mover(dir, [{ by: 'tool', path: 'a.txt', content: 'one' }]), { id: 'one' }),
      await runtime.spawn(mover(dir, [{ by: 'tool', path: 'a.txt', content: 'two' }]), { id: 'two' }),
    ]
    await one.prompt('go').result
    await two.prompt('go').result
    const said: unknown[] = []
    for (const agent of [one, two]) {
      const done = ended(agent)
      agent.revert('n1', { category: 'failure', summary: 'no', undo: true })
      await done
      said.push([read(dir, 'a.txt'), agent.conversation.tags()[0]!.tag.undo!.undone])
    }
    assert.equal(said, [
      ['two', []],
      ['one', ['a.txt']],
    ])
    await runtime.close()
  })

  it('holds after a restart with a file store, asked for by a client', async (context: CaseContext) => {
    const { dir } = workspaceFolder(context, { 'a.txt': 'A' })
    const logs = workspaceFolder(context).dir
    const definition = mover(dir, [{ by: 'tool', path: 'a.txt', content: 'one' }])
    const first = await createRuntime({ store: fileStore(logs) })
    await (await first.spawn(definition, { id: 'm' })).prompt('go').result
    await first.close()
    const { runtime, connect } = await serveAgents(context, [definition], { runtime: { store: fileStore(logs) } })
    await runtime.resume('m', definition)
    const remote = connect().agent('m')
    const events = new Promise<readonly string[]>((resolve) => {
      remote.subscribe((event) => event.type === 'undo.end' && resolve(event.undone))
    })
    await remote.revert('n1', { category: 'failure', summary: 'no', undo: true })
    assert.equal([await events, read(dir, 'a.txt')], [['a.txt'], 'A'])
  })
})
