import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { artifactName } from '../../src/protocol/artifacts/artifact.ts'
import type { ToolResultMessage } from '../../src/protocol/messages.ts'
import type { RequestMessage } from '../../src/protocol/ports/model.ts'
import type { RecordOf } from '../../src/protocol/records.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { exportSession } from '../../packages/sessions/src/exportSession.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { importSession } from '../../packages/sessions/src/importSession.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { calls, startAgent, tool, withCode, type Harness, type HarnessOptions } from '../support/agentHarness.ts'
import { storeFolder } from '../../packages/stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const line = (index: number): string => `line ${index}: ${'x'.repeat(40)} needle${index}`
const log = Array.from({ length: 2_000 }, (_, index) => line(index + 1)).join('\n')
const logs = tool('logs', () => log)

interface Reading extends Harness {
  readonly more: ScriptedReply[]
}

/** An agent whose script goes on. */
async function start(context: CaseContext, options: HarnessOptions): Promise<Reading> {
  const more = [...(options.replies ?? [])]
  return { ...(await startAgent(context, { ...options, replies: more })), more }
}

/** Has the model read an artifact in a further run. */
async function again({ agent, more }: Reading, asked: object, id: string): Promise<void> {
  more.push(calls('r', ['read_artifact', { id, ...asked }]), 'done')
  await agent.prompt('read').result
}

/** The text that the model got of its last call. */
const lastResult = ({ script }: Pick<Harness, 'script'>): string => {
  const message = script.requests.at(-1)!.messages.at(-1) as RequestMessage
  return message.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}
const resultsIn = async ({ records }: Pick<Harness, 'records'>): Promise<ToolResultMessage[]> =>
  (await records())
    .filter((record): record is RecordOf<'tool.end'> => record.type === 'tool.end')
    .map(({ message }) => message)
    .toSorted((a, b) => (a.callId < b.callId ? -1 : 1))
const nameIn = (text: string): string => /artifact_[0-9a-f]{12}/.exec(text)![0]

describe('a result that is too large to show', (it) => {
  it('is kept whole: the model sees its ends, and reads on by lines and by words', async (context) => {
    const harness = await start(context, {
      artifacts: { overChars: 2_000 },
      tools: [logs],
      replies: [calls('a', 'logs'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [shown] = await resultsIn(harness)
    const text = shown!.content.map((block) => (block as { text: string }).text)
    assert.ok(text.join('').length <= 2_000, `${text.join('').length}`)
    assert.match(text[0]!, /^line 1: [^]*characters left out[^]*needle2000$/)
    const [artifact] = shown!.artifacts!
    assert.equal(
      { ...artifact, id: artifact!.id.length },
      { id: 64, agentId: 'a1', bytes: log.length, mimeType: 'text/plain' },
    )
    assert.is(
      text[1],
      `[${artifactName(artifact!)}: all of it is kept, 2000 lines. read_artifact reads on, by lines or by words.]`,
    )
    await again(harness, { from: 1_000, lines: 2 }, artifactName(artifact!))
    const [head, ...read1] = lastResult(harness).split('\n')
    assert.is(head, `${artifactName(artifact!)} (text/plain, ${log.length} bytes), lines 1000–1001 of 2000:`)
    assert.equal(read1.slice(0, 2), [line(1000), line(1001)])
    await again(harness, { query: 'needle1234', lines: 1 }, artifactName(artifact!))
    assert.match(lastResult(harness), `line 1234 of 2000:\n${line(1234)}`)
  })

  it('is read by nothing but its name, or so much of it that no other has', async (context) => {
    const harness = await start(context, {
      artifacts: { overChars: 2_000 },
      tools: [logs],
      replies: [calls('a', 'logs'), 'done'],
    })
    await harness.agent.prompt('go').result
    const name = artifactName((await resultsIn(harness))[0]!.artifacts![0]!)
    for (const asked of ['artifact_', ' ', name.slice(0, -5), 'artifact_ffffffffffff', 'line']) {
      await again(harness, {}, asked)
      assert.match(lastResult(harness), `There is no artifact "${asked}". The newest: ${name}.`)
    }
    await again(harness, { lines: 1 }, ` ${name.slice('artifact_'.length)} `)
    assert.match(lastResult(harness), line(1))
  })

  it('is JSON on lines where it was data, and one long line can be read too', async (context) => {
    const rows = Array.from({ length: 500 }, (_, id) => ({ id, name: `row ${id}` }))
    const harness = await start(context, {
      artifacts: { overChars: 1_000 },
      tools: [tool('rows', () => rows), tool('flat', () => 'ab'.repeat(5_000))],
      replies: [calls('a', 'rows', 'flat'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [data, flat] = await resultsIn(harness)
    assert.is(data!.artifacts![0]!.mimeType, 'application/json')
    await again(harness, { query: 'row 333' }, artifactName(data!.artifacts![0]!))
    assert.match(lastResult(harness), '"name": "row 333"')
    await again(harness, { from: 5, lines: 1 }, artifactName(flat!.artifacts![0]!))
    assert.match(lastResult(harness), `line 5 of 5:\n${'ab'.repeat(1_000)}\n`)
  })

  it('of a tool that failed is kept too, and of a tool within its limit nothing changes', async (context) => {
    const harness = await start(context, {
      artifacts: true,
      tools: [
        tool('fails', () => {
          throw new Error(log)
        }),
        tool('small', () => 'x'.repeat(30_000)),
      ],
      replies: [calls('a', 'fails', 'small'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [failed, small] = await resultsIn(harness)
    assert.is(failed!.isError, true)
    assert.is(failed!.artifacts![0]!.bytes, log.length)
    assert.equal(small!.content, [{ type: 'text', text: 'x'.repeat(30_000) }])
    assert.is(small!.artifacts, undefined)
  })

  it('may be an image or a file, which is shown when it is read', async (context) => {
    const data = Buffer.from('p'.repeat(2_000)).toString('base64')
    const image = { type: 'image', data, mimeType: 'image/png' } as const
    const bytes = Buffer.from('d'.repeat(2_000)).toString('base64')
    const pdf = { type: 'file', data: bytes, mimeType: 'application/pdf', name: 'a.pdf' } as const
    const small = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    const harness = await start(context, {
      artifacts: { overMediaBytes: 1_000 },
      tools: [tool('shoot', () => [{ type: 'text', text: 'see' }, image, small, pdf])],
      replies: [calls('a', 'shoot'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [shot] = await resultsIn(harness)
    const [picture, document] = shot!.artifacts!.map(artifactName)
    assert.equal(shot!.content, [
      { type: 'text', text: 'see' },
      { type: 'text', text: `[${picture}: an image, image/png, 2000 bytes, kept. read_artifact shows it.]` },
      small,
      {
        type: 'text',
        text: `[${document}: a file, a.pdf, application/pdf, 2000 bytes, kept. read_artifact shows it.]`,
      },
    ])
    assert.is(shot!.artifacts![1]!.name, 'a.pdf')
    await again(harness, {}, document!)
    const read = (await resultsIn(harness)).at(-1)!
    assert.is(read.artifacts, undefined)
    assert.equal(read.content, [pdf])
  })

  it('holds no secret, wherever it is cut', async (context) => {
    const secret = 's3cr3t-token-0123456789'
    const dirty = `${'a'.repeat(262_140)}${secret}${'b'.repeat(300_000)}${secret}`
    const store = memoryStore()
    const harness = await start(context, {
      store,
      artifacts: true,
      redact: { secrets: { TOKEN: secret } },
      tools: [tool('leak', () => dirty)],
      replies: [calls('a', 'leak'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [{ artifacts }] = (await resultsIn(harness)) as [ToolResultMessage]
    const kept = new TextDecoder().decode(await store.snapshots!.get('a1', artifacts![0]!.id))
    assert.not.match(kept + JSON.stringify(await harness.records()), secret)
    assert.is(kept.split('[redacted:TOKEN]').length, 3)
  })

  it('is kept up to a size, its ends, and the model is told what is missing', async (context) => {
    const harness = await start(context, {
      artifacts: { overChars: 1_000, maxBytes: 10_000 },
      tools: [tool('wide', () => `${'ä'.repeat(40_000)}end`)],
      replies: [calls('a', 'wide'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [{ artifacts, content }] = (await resultsIn(harness)) as [ToolResultMessage]
    assert.ok(artifacts![0]!.bytes <= 10_000 && artifacts![0]!.bytes > 5_000, String(artifacts![0]!.bytes))
    assert.match(JSON.stringify(content), /all but \d+ characters in its middle are kept/)
    await again(harness, { query: 'end' }, artifactName(artifacts![0]!))
    assert.match(lastResult(harness), /ääend/)
  })
})

describe('what is kept of results', (it) => {
  it('belongs to one conversation: other names are refused, and what is gone says so', async (context) => {
    const store = memoryStore()
    const secret = new TextEncoder().encode('what an undo keeps')
    const foreign = await store.snapshots!.put('a1', secret)
    const harness = await start(context, {
      store,
      artifacts: { overChars: 1_000 },
      tools: [logs],
      replies: [calls('a', 'logs'), calls('b', ['read_artifact', { id: foreign }]), 'done'],
    })
    await harness.agent.prompt('go').result
    assert.match(lastResult(harness), /There is no artifact .*The newest: artifact_/)
    const [{ artifacts }] = (await resultsIn(harness)) as [ToolResultMessage]
    Object.assign(store.snapshots!, { get: async () => undefined })
    await again(harness, {}, artifactName(artifacts![0]!))
    assert.match(lastResult(harness), /is no longer kept.*Call the tool again/)
  })

  it('is not kept where a hook replaced or withheld the result', async (context) => {
    const puts: number[] = []
    const store = memoryStore()
    Object.assign(store.snapshots!, { put: async (_: string, bytes: Uint8Array) => `${puts.push(bytes.length)}` })
    const harness = await start(context, {
      store,
      artifacts: { overChars: 1_000 },
      tools: [logs, tool('other', () => log)],
      afterTool: ({ name }) => (name === 'logs' ? { result: 'nothing to see' } : undefined),
      replies: [calls('a', 'logs', 'other'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [hidden, other] = await resultsIn(harness)
    assert.equal([hidden!.artifacts, hidden!.content], [undefined, [{ type: 'text', text: 'nothing to see' }]])
    assert.is(other!.artifacts!.length, 1)
    assert.is(puts.length, 1)
  })

  it('is what hooks see of it when it is read', async (context) => {
    const harness = await start(context, {
      artifacts: { overChars: 1_000 },
      tools: [logs],
      afterTool: ({ name }) => (name === 'read_artifact' ? { result: 'not for you' } : undefined),
      replies: [calls('a', 'logs'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [{ artifacts }] = (await resultsIn(harness)) as [ToolResultMessage]
    await again(harness, {}, artifactName(artifacts![0]!))
    assert.is(lastResult(harness), 'not for you')
  })

  it('is less than it says where the store fails, and the model is told', async (context) => {
    const store = memoryStore()
    Object.assign(store.snapshots!, { put: async () => Promise.reject(new Error('disk full')) })
    const harness = await start(context, {
      store,
      artifacts: { overChars: 1_000 },
      tools: [logs],
      replies: [calls('a', 'logs'), 'done'],
    })
    await harness.agent.prompt('go').result
    const [{ artifacts, content }] = (await resultsIn(harness)) as [ToolResultMessage]
    assert.is(artifacts, undefined)
    assert.equal(content.at(-1), { type: 'text', text: '[It could not be kept: disk full.]' })
  })

  it('of an incognito agent is in no store, and can be read as long as it is there', async ({ cleanup }) => {
    const store = memoryStore()
    const puts: string[] = []
    const { put } = store.snapshots!
    Object.assign(store.snapshots!, {
      put: (agentId: string, bytes: Uint8Array) => (puts.push(agentId), put.call(store.snapshots, agentId, bytes)),
    })
    const replies: ScriptedReply[] = [calls('a', 'logs'), 'done']
    const model = scriptedModel(replies)
    const runtime = await createRuntime({ store })
    cleanup(() => runtime.close())
    const definition = defineAgent({ name: 'reader', model, tools: [logs], artifacts: { overChars: 1_000 } })
    const agent = await runtime.spawn(definition, { incognito: true })
    await agent.prompt('go').result
    const id = nameIn(JSON.stringify(model.requests.at(-1)!.messages))
    replies.push(calls('r', ['read_artifact', { id, from: 2_000 }]), 'done')
    await agent.prompt('read on').result
    assert.match(JSON.stringify(model.requests.at(-1)!.messages.at(-1)), line(2_000))
    assert.equal(puts, [])
  })

  it('is kept before the record that names it: after a crash in between, the call runs again by its effects', async (context) => {
    const folder = await storeFolder(context)
    let ran = 0
    const counting = (effects: 'none' | 'irreversible') =>
      tool(
        'logs',
        () => {
          ran += 1
          return log
        },
        { effects },
      )
    for (const effects of ['none', 'irreversible'] as const) {
      const definition = (replies: ScriptedReply[], model = scriptedModel(replies)) =>
        [
          defineAgent({ name: 'reader', model, tools: [counting(effects)], artifacts: { overChars: 1_000 } }),
          model,
        ] as const
      const store = fileStore(folder.dir)
      const { promise: isPut, resolve: put } = Promise.withResolvers<void>()
      const keep = store.snapshots!.put.bind(store.snapshots)
      store.snapshots!.put = async (agentId, bytes) => {
        await keep(agentId, bytes)
        put()
        // What comes after it never happens.
        return new Promise<string>(() => {})
      }
      const dying = await createRuntime({ store })
      const agent = await dying.spawn(definition([calls('a', 'logs')])[0], { id: effects })
      agent.prompt('go').result.catch(() => {})
      await isPut
      ran = 0
      // As the process left it: nothing of the end of the call is in the log.
      await cp(folder.dir, `${folder.dir}-left`, { recursive: true })
      context.cleanup(() => rm(`${folder.dir}-left`, { recursive: true, force: true }))
      await dying.close()
      await rm(join(`${folder.dir}-left`, `${effects}.lock`), { force: true })
      const [resumed, model] = definition(['done'])
      const runtime = await createRuntime({ store: fileStore(`${folder.dir}-left`) })
      context.cleanup(() => runtime.close())
      const left = await runtime.resume(effects, resumed)
      await new Promise<void>((resolve) => {
        left.subscribe((event) => event.type === 'run.end' && resolve())
        if (left.state === 'idle') resolve()
      })
      assert.is(ran, effects === 'none' ? 1 : 0, effects)
      const said = JSON.stringify(model.requests.at(-1)!.messages.at(-1))
      assert.match(said, effects === 'none' ? /all of it is kept/ : /not known|may have/)
      await runtime.close()
    }
  })

  it('is there after a restart, and in a fork', async (context) => {
    const folder = await storeFolder(context)
    const model = scriptedModel([calls('a', 'logs'), 'done'])
    const definition = defineAgent({ name: 'reader', model, tools: [logs], artifacts: { overChars: 1_000 } })
    const first = await createRuntime({ store: fileStore(folder.dir) })
    const agent = await first.spawn(definition, { id: 'one' })
    await agent.prompt('go').result
    const name = nameIn(JSON.stringify(model.requests.at(-1)!.messages))
    await first.close()
    const { agentId } = await forkSession(fileStore(folder.dir), 'one', 'n4', { id: 'two' })
    for (const id of ['one', agentId]) {
      const next = scriptedModel([calls('r', ['read_artifact', { id: name, from: 2_000 }]), 'done'])
      const runtime = await createRuntime({ store: fileStore(folder.dir) })
      context.cleanup(() => runtime.close())
      const resumed = await runtime.resume(
        id,
        defineAgent({ name: 'reader', model: next, tools: [logs], artifacts: true }),
      )
      await resumed.prompt('read on').result
      assert.match(JSON.stringify(next.requests.at(-1)!.messages.at(-1)), line(2_000), id)
      await runtime.close()
    }
  })
})

describe('an exported session', (it) => {
  it('carries what its results name, also of what it was forked from, and says what is missing', async (context) => {
    const folder = await storeFolder(context)
    const definition = (replies: ScriptedReply[]) =>
      defineAgent({ name: 'reader', model: scriptedModel(replies), tools: [logs], artifacts: { overChars: 1_000 } })
    const runtime = await createRuntime({ store: fileStore(folder.dir) })
    const agent = await runtime.spawn(definition([calls('a', 'logs'), 'done']), { id: 'one' })
    await agent.prompt('go').result
    await runtime.close()
    await forkSession(fileStore(folder.dir), 'one', 'n4', { id: 'two' })
    const lines: string[] = []
    for await (const text of exportSession(fileStore(folder.dir), 'two')) lines.push(text)
    const { id } = JSON.parse(lines.at(-1)!).artifact as { id: string }

    const elsewhere = memoryStore()
    assert.equal(await importSession(elsewhere, lines), { agentIds: ['one', 'two'] })
    assert.is(new TextDecoder().decode(await elsewhere.snapshots!.get('one', id)), log)

    const without = lines.with(
      lines.length - 1,
      `${JSON.stringify({ agentId: 'one', artifact: { id, missing: true } })}\n`,
    )
    const missing = [artifactName({ id })]
    assert.equal(await importSession(memoryStore(), without), { agentIds: ['one', 'two'], missing })
    const { snapshots: _, ...plain } = memoryStore()
    assert.equal((await importSession(plain, lines)).missing, missing)
    const forged = lines.with(lines.length - 1, lines.at(-1)!.replace(id, 'ab'.repeat(32)))
    await assert.rejects(() => importSession(memoryStore(), forged), withCode('LOG_CORRUPT', 'not what its name says'))
  })
})
