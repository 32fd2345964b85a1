import { recordVersion } from '../../../src/protocol/records.ts'
import { someRuns } from '../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { exportSession } from '../src/exportSession.ts'
import { forkSession } from '../src/forkSession.ts'
import { importSession } from '../src/importSession.ts'
import { loadSession } from '../src/loadSession.ts'
import { textLines } from '../src/readExport.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { LogBuilder } from '../../../test/conversation/logBuilder.ts'
import { brittleStore } from '../../../test/support/brittleStore.ts'
import { calls, startAgent, tool } from '../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { born, created, fill, logOf, storeOf } from './sessionLogs.ts'
import { failsWith, storeFolder } from '../../stores/test/storeFolder.ts'

/** Records as a store has them of an imported log. */
const foreign = (records: readonly LogRecord[]): LogRecord[] => records.map((record) => ({ ...record, foreign: true }))

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const line of lines) text += line
  return text
}

const valuesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const talk = (agentId: string, last = 'gone'): LogRecord[] => {
  const log = new LogBuilder()
  log.user('go')
  log.step('c')
  log.reply(last)
  return born(agentId, log.records)
}

/** `a`, its fork `f`, and the fork `g` of that, with something of their own each. */
async function family(store: Store): Promise<void> {
  await fill(store, { a: talk('a') })
  await forkSession(store, 'a', 'n3', { id: 'f' })
  await fill(store, { f: [said(2, 4, 3), said(3, 5, 4)] })
  await forkSession(store, 'f', 'n4', { id: 'g' })
}

const said = (seq: number, nodeId: number, parentId: number): LogRecord => ({
  v: 3,
  seq,
  time: seq,
  type: 'message.added',
  runId: 'f/r0',
  turnIndex: 1,
  nodeId,
  parentId,
  message: { role: 'user', source: 'prompt', content: [{ type: 'text', text: `said ${nodeId} \u2028 漢🙂` }] },
})

const kinds: { readonly [kind: string]: (context: CaseContext) => Promise<Store> } = {
  memory: async () => memoryStore(),
  files: async (context) => (await storeFolder(context)).store(),
}

for (const [kind, makeStore] of Object.entries(kinds))
  describe(`a session exported and imported, in ${kind}`, (it) => {
    it('is the same in the other store', async (context) => {
      const { agent, store, records } = await startAgent(context, {
        tools: [tool('look', () => 'seen')],
        replies: [calls('a', 'look'), 'found'],
      })
      await agent.prompt('search').result
      const text = await textOf(exportSession(store, 'a1'))
      const other = await makeStore(context)
      assert.equal(await importSession(other, [text]), { agentIds: ['a1'] })
      assert.equal(await logOf(other, 'a1'), foreign(await records()))
      assert.equal((await loadSession(other, 'a1')).conversation.trunk(), agent.conversation.trunk())
      const again = valuesOf(await textOf(exportSession(other, 'a1')))
      assert.equal(again, [
        valuesOf(text)[0],
        ...(await logOf(other, 'a1')).map((record) => ({ agentId: 'a1', record })),
      ])
    })

    it('brings the part of its sources that it shares, and nothing else of them', async (context) => {
      const store = await makeStore(context)
      await family(store)
      const text = await textOf(exportSession(store, 'g'))
      const values = valuesOf(text)
      assert.equal(values[0], { format: 'escapement.session', version: 2, agentId: 'g', agents: ['a', 'f', 'g'] })
      assert.equal(
        values.slice(1).map(({ agentId, record }) => `${agentId}${record.seq}`),
        ['a1', 'a2', 'a3', 'a4', 'f1', 'f2', 'g1'],
      )
      const other = await makeStore(context)
      assert.equal(await importSession(other, [text]), { agentIds: ['a', 'f', 'g'] })
      const [here, there] = [await loadSession(store, 'g'), await loadSession(other, 'g')]
      assert.equal(there.conversation.trunk(), here.conversation.trunk())
      assert.equal([there.past, there.records], [foreign(here.past), foreign(here.records)])
    })

    it('leaves a log alone that is there already, and adds what it lacks', async (context) => {
      const store = await makeStore(context)
      await family(store)
      const [whole, shared] = [await textOf(exportSession(store, 'a')), await textOf(exportSession(store, 'f'))]
      const other = await makeStore(context)
      await importSession(other, [shared])
      assert.is((await logOf(other, 'a')).length, 4)
      await importSession(other, [whole])
      assert.equal(await logOf(other, 'a'), foreign(talk('a')))
      // Twice is once, and the part that is shared does not cut the rest off.
      await importSession(other, [shared])
      await importSession(other, [whole])
      assert.equal(await logOf(other, 'a'), foreign(talk('a')))
      assert.equal(await other.list(), ['a', 'f'])
    })

    it('is refused when an id has a log that goes another way, and nothing is written', async (context) => {
      const store = await makeStore(context)
      await family(store)
      const text = await textOf(exportSession(store, 'g'))
      const other = await makeStore(context)
      await fill(other, { f: [created('f')] })
      await assert.rejects(importSession(other, [text]), failsWith('AGENT_EXISTS', '"f"', 'record 1 differs'))
      assert.equal(await other.list(), ['f'])
      const third = await makeStore(context)
      await fill(third, { a: talk('a', 'otherwise') })
      // What is shared is the same.
      await importSession(third, [text])
      assert.equal(await third.list(), ['a', 'f', 'g'])
    })

    it('leaves nothing behind when a log is being written by another', async (context) => {
      const store = await makeStore(context)
      await family(store)
      const text = await textOf(exportSession(store, 'g'))
      const other = await makeStore(context)
      const lease = await other.open('g')
      await assert.rejects(importSession(other, [text]), failsWith('STORE_LOCKED'))
      assert.equal(await other.list(), [])
      await lease.release()
      await importSession(other, [text])
      assert.equal(await other.list(), ['a', 'f', 'g'])
    })
  })

describe('importSession', (it) => {
  const source = async (): Promise<Store> => {
    const store = memoryStore()
    await family(store)
    return store
  }

  it('takes a file as it is streamed, split anywhere', { timeoutMs: 10_000 }, async (context) => {
    const store = await source()
    const text = await textOf(exportSession(store, 'g'))
    const { file } = await storeFolder(context)
    await writeFile(file('g.session.jsonl'), text.replaceAll('\n', '\r\n'))
    const streamed = memoryStore()
    await importSession(streamed, createReadStream(file('g.session.jsonl'), { encoding: 'utf8', highWaterMark: 7 }))
    assert.equal(await logOf(streamed, 'f'), foreign((await logOf(store, 'f')).slice(0, 2)))
    const property = fc.asyncProperty(
      fc.array(fc.nat(text.length), { maxLength: 12 }),
      fc.boolean(),
      async (cuts, ended) => {
        const whole = ended ? text : text.slice(0, -1)
        const ends = [...cuts, whole.length].toSorted((a, b) => a - b)
        const pieces = ends.map((end, index) => whole.slice(ends[index - 1] ?? 0, end))
        const other = memoryStore()
        await importSession(other, pieces)
        for (const id of ['a', 'f', 'g']) assert.equal(await logOf(other, id), await logOf(streamed, id))
      },
    )
    await fc.assert(property, { seed: 7, numRuns: someRuns(50) })
    const whole = memoryStore()
    await importSession(whole, text)
    assert.equal(await whole.list(), ['a', 'f', 'g'])
  })

  it(
    'refuses a file that was cut off or damaged, naming the line, before it writes',
    { timeoutMs: 10_000 },
    async () => {
      const lines = (await textOf(exportSession(await source(), 'g'))).split('\n').slice(0, -1)
      const edit = (line: number, change: (value: Record<string, unknown>) => unknown): string[] =>
        lines.with(line - 1, JSON.stringify(change(JSON.parse(lines[line - 1]!))))
      const inRecord = (line: number, change: object): string[] =>
        edit(line, (value) => ({ ...value, record: { ...(value['record'] as object), ...change } }))
      const bad: readonly (readonly [string, readonly string[], ...(readonly string[])])[] = [
        ['LOG_CORRUPT', [], 'is empty'],
        ['LOG_CORRUPT', ['', ' '], 'is empty'],
        ['LOG_CORRUPT', lines.slice(1), 'Line 1', 'not its header'],
        ['FOREIGN_FORMAT', ['hello'], 'begins with "hello"'],
        ['FOREIGN_FORMAT', ['[]'], 'begins with "[]"'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, format: 'other' })), 'Line 1', 'format'],
        ['LOG_VERSION', edit(1, (value) => ({ ...value, version: 3 })), 'version 3'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, version: 'x' })), 'Line 1', 'version'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, agents: ['a', 'f', '../g'] })), 'Line 1', 'agents.2'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, agents: ['g', 'f', 'a'] })), 'Line 1', 'does not end with "g"'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, agents: ['a', 'a', 'f', 'g'] })), 'Line 1', 'twice'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, agents: ['f', 'g'] })), 'Line 2', '"a" is not in the header'],
        ['LOG_CORRUPT', edit(1, (value) => ({ ...value, agents: ['f', 'a', 'g'] })), 'must be'],
        ['LOG_CORRUPT', lines.with(3, lines[3]!.slice(0, -3)), 'Line 4', 'not JSON'],
        ['LOG_CORRUPT', lines.toSpliced(3, 1), 'Line 4', 'its seq is 4, not 3'],
        ['LOG_CORRUPT', lines.toSpliced(3, 0, lines[2]!), 'Line 4', 'its seq is 2, not 3'],
        ['LOG_CORRUPT', lines.slice(0, -1), 'no record of agent "g"'],
        ['LOG_CORRUPT', lines.toSpliced(4, 1), 'Line 5', 'ends with record 3'],
        ['LOG_CORRUPT', lines.toSpliced(2, 0, '{"agentId":"a"}'), 'Line 3'],
        ['LOG_CORRUPT', lines.toSpliced(2, 0, '{"record":{}}'), 'Line 3', 'agentId'],
        ['LOG_CORRUPT', lines.toSpliced(2, 0, 'null'), 'Line 3'],
        ['LOG_CORRUPT', inRecord(3, { type: 'message.lost' }), 'Line 3'],
        ['LOG_CORRUPT', inRecord(3, { nodeId: 0 }), 'Line 3', 'nodeId'],
        ['LOG_VERSION', inRecord(3, { v: recordVersion + 1 }), 'Line 3', `version ${recordVersion + 1}`],
        ['LOG_CORRUPT', inRecord(3, { parentId: 9 }), 'Line 3', 'does not follow'],
        ['LOG_CORRUPT', inRecord(2, { agentId: 'b' }), 'Line 2', 'must begin with its agent.created'],
        ['LOG_CORRUPT', inRecord(6, { forkedFrom: { agentId: 'z', seq: 4, at: 3 } }), 'Line 6', 'a fork of "a"'],
        ['LOG_CORRUPT', inRecord(6, { forkedFrom: { agentId: 'a', seq: 3, at: 3 } }), 'Line 6', 'record 3'],
      ]
      for (const [code, text, ...texts] of bad) {
        const store = memoryStore()
        await assert.rejects(importSession(store, [text.join('\n')]), failsWith(code, ...texts))
        assert.equal(await store.list(), [], texts.join())
      }
    },
  )

  it('takes lines, with a byte order mark or other line ends', async () => {
    const text = await textOf(exportSession(await source(), 'g'))
    for (const given of [text.split('\n'), [`\uFEFF${text}`], [text.replaceAll('\n', '\r\n')]]) {
      const store = memoryStore()
      assert.equal((await importSession(store, given)).agentIds, ['a', 'f', 'g'])
    }
  })

  for (const [name, text] of [
    [
      'Claude Code',
      '{"type":"file-history-snapshot","messageId":"m"}\n{"type":"user","sessionId":"s","message":{"role":"user","content":"hi"}}',
    ],
    [
      'Claude Code',
      '{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"escapement.session"}}',
    ],
    ['Codex', '{"timestamp":"t","type":"session_meta","payload":{"id":"i"}}\n'],
    ['the Copilot CLI', '{"type":"session.start","data":{"sessionId":"s"},"id":"i","timestamp":"t","parentId":null}'],
    ['OpenCode', JSON.stringify({ info: { id: 'ses_1', directory: '/' }, messages: [] }, null, 2)],
    ['pi', '{"type":"session","version":3,"id":"i","cwd":"/"}'],
    ['OpenHands', JSON.stringify([{ id: 0, source: 'user', action: 'message', args: {} }], null, 2)],
    ['SWE-agent', JSON.stringify({ environment: 'e', trajectory: [] }, null, 2)],
    ['chat messages', JSON.stringify([{ role: 'user', content: 'hi' }], null, 2)],
    ['a log of escapement', '{"v":3,"seq":1,"time":1,"type":"agent.created","agentId":"a"}'],
  ] as const)
    it(`names ${name}, and writes nothing: ${text.slice(0, 40).replaceAll(/\s+/g, ' ')}`, async () => {
      const store = memoryStore()
      await assert.rejects(importSession(store, [text]), failsWith('FOREIGN_FORMAT', name))
      assert.equal(await store.list(), [])
    })

  it('keeps to its errors, whatever bytes are changed', { timeoutMs: 20_000 }, async () => {
    const text = await textOf(exportSession(await source(), 'g'))
    const property = fc.asyncProperty(
      fc.nat(text.length - 1),
      fc.string({ maxLength: 3, unit: 'binary' }),
      async (at, other) => {
        const store = memoryStore()
        try {
          await importSession(store, [text.slice(0, at), other, text.slice(at + 1)])
          for (const id of await store.list()) await loadSession(store, id)
        } catch (thrown) {
          assert.ok(failsWith('LOG_CORRUPT')(thrown) || failsWith('LOG_VERSION')(thrown), String(thrown))
          assert.equal(await store.list(), [])
        }
      },
    )
    await fc.assert(property, { seed: 11, numRuns: someRuns(300) })
  })

  it('takes back what it wrote when the store fails half-way, where it can', async () => {
    const text = await textOf(exportSession(await source(), 'g'))
    const inner = memoryStore()
    await fill(inner, { a: talk('a').slice(0, 2) })
    const failing = {
      ...inner,
      append: (id: string, records: readonly LogRecord[]) =>
        id === 'g' ? Promise.reject(new Error('disk full')) : inner.append(id, records),
    }
    await assert.rejects(importSession(failing, [text]), /disk full/)
    // What was there stays, with what it lacked; what was new is gone, and nothing is held.
    assert.equal([await inner.list(), (await logOf(inner, 'a')).length], [['a'], 4])
    await importSession(inner, [text])
    assert.equal(await inner.list(), ['a', 'f', 'g'])

    const brittle = brittleStore()
    brittle.onAppend = (records) => {
      if (records[0]?.type === 'agent.created' && records[0].agentId === 'g') brittle.fail = new Error('disk full')
    }
    await assert.rejects(importSession(brittle, [text]), /disk full/)
    assert.equal(await brittle.list(), ['a', 'f'])
    brittle.fail = brittle.onAppend = undefined
    await importSession(brittle, [text])
    assert.equal(await brittle.list(), ['a', 'f', 'g'])
  })

  it('wants text', async () => {
    const bytes = [new Uint8Array([123])] as unknown as string[]
    await assert.rejects(importSession(memoryStore(), bytes), failsWith('INVALID_OPTION', 'utf8'))
  })
})

describe('exportSession', (it) => {
  it('refuses what loadSession refuses', async () => {
    const store = await storeOf({ orphan: [created('orphan', { agentId: 'gone', seq: 2, at: 1 })] })
    await assert.rejects(textOf(exportSession(store, '../a')), failsWith('INVALID_ID'))
    await assert.rejects(textOf(exportSession(store, 'nobody')), failsWith('AGENT_NOT_FOUND'))
    await assert.rejects(textOf(exportSession(store, 'orphan')), failsWith('LOG_CORRUPT', '"gone"'))
  })
})

describe('lines of text in pieces', (it) => {
  const linesOf = async (pieces: readonly string[], maxChars?: number): Promise<string[]> => {
    const lines: string[] = []
    for await (const line of textLines(pieces, maxChars)) lines.push(line)
    return lines
  }

  it('are the lines of the whole, however it was cut', async () => {
    assert.equal(await linesOf(['a', 'b\n\nc', '', '\n', 'd']), ['ab', '', 'c', 'd'])
    assert.equal(await linesOf([]), [])
    assert.equal(await linesOf(['\n']), [''])
  })

  it('may come as lines without their ends, of files with other ends too', async () => {
    const [one, two] = ['{"a":"}{"}', '{"b":{}}']
    for (const pieces of [
      [one, two],
      [`${one}\r`, `${two}\r`],
      [`${one}\n`, `${two}\n`],
      [`\uFEFF${one}`, two],
      [one, '', two, ''],
    ])
      assert.equal(
        (await linesOf(pieces)).map((line) => line.trim()).filter((line) => line !== ''),
        [one, two],
      )
    // A piece may end wherever it likes.
    assert.equal(await linesOf(['{"a":"}', '{"}\n{"b":{}', '}']), [one, two])
    assert.equal(await linesOf(['{"a":{}', '{"']), ['{"a":{}{"'])
  })

  it('are refused over the limit, with or without an end', async () => {
    assert.equal(await linesOf(['12345\n', '12345'], 5), ['12345', '12345'])
    await assert.rejects(linesOf(['1\n', '123', '456\n'], 5), failsWith('LOG_CORRUPT', 'Line 2', '5 characters'))
    await assert.rejects(linesOf(['123456'], 5), failsWith('LOG_CORRUPT', 'Line 1'))
  })
})
