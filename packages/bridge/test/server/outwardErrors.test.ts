import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { errorInfo, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { acp } from '../../../acp/src/acp.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { outwardError, outwardEvent } from '../../src/server/outwardError.ts'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const broad = 'a-token-for-everything'
const narrow = 'a-token-for-one-agent'
const tokens = { [broad]: 'admin', [narrow]: { role: 'observe', agents: ['mine'] } } as const

/** A server over a folder with a log that is none. */
async function serveBroken(context: CaseContext) {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-broken-'))
  context.cleanup(() => rm(dir, { recursive: true, force: true }))
  for (const name of ['payroll', 'mine']) await writeFile(join(dir, `${name}.jsonl`), '{"x":1}\n{"x":2}\n{"x":3}\n')
  const lines: string[] = []
  const line = (_: object, message: string): void => void lines.push(message)
  const logger: Logger = { debug: line, info: line, warn: line, error: line }
  const serving = await serveAgents(context, [echo], {
    tokens,
    endpoints: [agUi(), acp()],
    runtime: { store: fileStore(dir), logger },
  })
  return { ...serving, dir, lines }
}

describe('a log that cannot be read', (it) => {
  it('out of reach is forbidden like any other, whatever is asked of it', async (context) => {
    const { dial } = await serveBroken(context)
    const bare = await dial({ hello: { token: narrow } })
    for (const agentId of ['payroll', 'nobody']) {
      for (const type of ['agent.snapshot', 'agent.subscribe', 'agent.conversation']) {
        const answer = await bare.ask({ type, agentId, ...(type === 'agent.conversation' ? { view: 'log' } : {}) })
        assert.is(answer.type === 'error' && answer.code, 'BRIDGE_FORBIDDEN')
        assert.match(answer.type === 'error' ? answer.message : '', `agent "${agentId}"`)
      }
    }
  })

  it('is told to clients without its path, and to the server’s log with it', async (context) => {
    const { dial, server, dir, lines } = await serveBroken(context)
    const said: string[] = []
    const bare = await dial({ hello: { token: broad } })
    for (const type of ['agent.snapshot', 'agent.subscribe', 'agent.abort', 'agent.stop'])
      said.push(JSON.stringify(await bare.ask({ type, agentId: 'payroll' })))
    said.push(JSON.stringify(await bare.ask({ type: 'session.list' })))
    const headers = { authorization: `Bearer ${broad}`, 'content-type': 'application/json' }
    const base = `http://127.0.0.1:${server.port}`
    const chart = await fetch(`${base}/agents/payroll/chart.svg`, { headers })
    const messages = [{ id: 'm', role: 'user', content: 'hello' }]
    const input = { threadId: 'payroll', runId: 'r', state: {}, messages, tools: [], context: [], forwardedProps: {} }
    const run = await fetch(`${base}/ag-ui`, { method: 'POST', headers, body: JSON.stringify(input) })
    said.push(await chart.text(), await run.text())
    for (const text of said) {
      assert.match(text, /LOG_CORRUPT/)
      assert.not.match(text, dir)
    }
    assert.ok(lines.some((line) => line.includes(dir)))
  })
})

describe('what clients are told of errors', (it) => {
  const path = '/srv/agents/logs of bob/payroll.jsonl'

  it('keeps the code and the advice, and loses the path', () => {
    for (const code of [
      'STORE_LOCKED',
      'STORE_APPEND_FAILED',
      'LOG_CORRUPT',
      'AGENT_PAUSED',
      'STORE_CLOSED',
    ] as const) {
      const { code: same, message } = outwardError(errorInfo(code, `${path} is broken.`))
      assert.is(same, code)
      assert.not.match(message, 'srv')
      assert.is(message.split(' ').at(-1), errorInfo(code, '').message.split(' ').at(-1))
    }
    for (const quoted of [`open '${path}'`, `open "C:\\agents\\a b.jsonl"`, 'open `/srv/x`']) {
      for (const code of ['INTERNAL', 'CHILD_CRASHED'] as const) {
        const { message } = outwardError(errorInfo(code, `ENOENT: no such file, ${quoted}.`))
        assert.not.match(message, /srv|agents\\/)
        assert.match(message, 'ENOENT')
      }
    }
    const withoutControls = errorInfo('CALL_NOT_PENDING', 'Call "/x/y" does not wait.')
    assert.is(outwardError(withoutControls), withoutControls)
  })

  it('of events too, which are the same objects otherwise', () => {
    const at = { agentId: 'a', path: [], seq: 1, time: 1, runId: 'a/r0', turnIndex: 0 }
    const error = errorInfo('STORE_APPEND_FAILED', `${path} is full.`)
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    const end = { ...at, v: 3, type: 'run.end', turns: 1, usage, costUsd: 0 } as const
    const events: AgentEvent[] = [
      { ...at, type: 'error', error },
      { ...end, stopReason: 'paused', reason: { type: 'store', error } },
      { ...end, stopReason: 'error', error },
    ]
    for (const event of events) assert.not.match(JSON.stringify(outwardEvent(event)), 'srv')
    const plain: AgentEvent = { ...end, stopReason: 'paused', reason: { type: 'interrupted' } }
    assert.is(outwardEvent(plain), plain)
  })

  it('of a store that fails while they listen', async (context) => {
    const sound = memoryStore()
    let isFull = false
    const store: Store = {
      ...sound,
      async append(agentId, records) {
        if (isFull) throw new RuntimeError('STORE_APPEND_FAILED', `${path}: no space is left.`)
        await sound.append(agentId, records)
      },
    }
    const serving = await serveAgents(context, [echo], { runtime: { store } })
    const bare = await serving.dial({ hello: {} })
    await bare.ask({ type: 'agent.spawn', definition: 'echo', agentId: 'a1' })
    await bare.ask({ type: 'agent.subscribe', agentId: 'a1' })
    isFull = true
    await bare.ask({ type: 'agent.prompt', agentId: 'a1', content: 'go' })
    await bare.until((frame) => frame.type === 'event' && (frame.event as AgentEvent).type === 'error')
    const snapshot = await bare.ask({ type: 'agent.snapshot', agentId: 'a1' })
    assert.match(JSON.stringify(snapshot), 'STORE_APPEND_FAILED')
    await bare.ask({ type: 'agent.prompt', agentId: 'a1', content: 'go' })
    assert.not.match(JSON.stringify(bare.frames), 'srv')
    isFull = false
    await bare.ask({ type: 'agent.resume', agentId: 'a1' })
    await bare.until((frame) => frame.type === 'event' && (frame.event as AgentEvent).type === 'run.end')
    const again = await serving.dial({ hello: {} })
    await again.ask({ type: 'agent.subscribe', agentId: 'a1' })
    await again.until(({ type }) => type === 'caughtUp')
    assert.match(JSON.stringify(again.frames), 'run.end')
    assert.not.match(JSON.stringify(again.frames), 'srv')
  })
})
