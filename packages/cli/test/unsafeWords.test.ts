import { WebSocketServer, type AddressInfo } from 'ws'
import { onConnection } from '../src/chat/onConnection.ts'
import { noColours } from '../src/terminal/colours.ts'
import { eventPrinter } from '../src/terminal/eventPrinter.ts'
import { plainScreen } from '../src/terminal/screen.ts'
import type { AgentEvent } from '../../../src/index.ts'
import { bridgeProtocol, closeCodes } from '../../wire/src/bridgeProtocol.ts'
import { serveAgents } from '../../bridge/test/server/bridgeHarness.ts'
import { storeFolder } from '../../stores/test/storeFolder.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { helpfulAgent } from './cliAgents.ts'
import { endedCli } from './cliInProcess.ts'
import { recordSession } from './cliSessions.ts'

/** Sets the title of a terminal, empties it, and begins a sequence with one character. */
const unsafe = 'a\u001B]0;mine\u0007b\u001B[2Jc\u009B2Jd'
// oxlint-disable-next-line no-control-regex -- these are what must not get through
const controls = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/

/** A server that refuses everybody, in its own words. */
async function refusing({ cleanup }: CaseContext, message: string): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => bridgeProtocol })
  cleanup(() => new Promise<void>((resolve) => server.close(() => resolve())))
  server.on('connection', (socket) =>
    socket.on('message', () => {
      socket.send(JSON.stringify({ type: 'error', code: 'BRIDGE_UNAUTHORISED', message }))
      socket.close(closeCodes.unauthorised)
    }),
  )
  await new Promise<void>((resolve) => server.once('listening', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('words of models, tools and servers at a terminal', (it) => {
  it('move no cursor, where a server says why it refuses', async (context) => {
    const address = await refusing(context, unsafe)
    for (const args of [
      ['attach', address, 'a1'],
      ['send', address, 'a1', 'hello'],
    ]) {
      const { code, stderr } = await endedCli(context, args, { isTerminal: true })
      assert.is(code, 1)
      assert.match(stderr, 'a]0;minebc2Jd')
      assert.not.match(stderr, controls)
    }
  })

  it('move no cursor, where a server tells of what nobody waits for', async () => {
    const said: string[] = []
    const client = {
      status: 'open',
      onError: (listener: (error: unknown) => void) => listener({ code: unsafe, message: unsafe }),
      onStatus: (listener: (status: string) => void) => listener('open'),
    }
    const agent = { refresh: () => Promise.reject(new Error(unsafe)) }
    onConnection(client as never, (text) => said.push(text), agent as never)
    await new Promise((resolve) => setImmediate(resolve))
    assert.is(said.length, 3)
    assert.not.match(said.join('\n'), controls)
  })

  it('move no cursor, whatever field of an event they stand in', () => {
    let printed = ''
    const screen = plainScreen({ write: (text) => (printed += text) })
    const print = eventPrinter({ screen, colours: noColours, isPriced: false })
    const error = { code: unsafe, message: unsafe }
    const result = { role: 'toolResult', content: [{ type: 'text', text: unsafe }], isError: true, toolName: unsafe }
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
    const end = { type: 'run.end', turns: 1, usage, costUsd: 0 }
    for (const event of [
      { type: 'message.added', message: { provenance: { type: 'memoryTier', tier: 'agent', recordId: unsafe } } },
      { type: 'message.added', message: { provenance: { type: 'report', name: unsafe, agentId: unsafe } } },
      { type: 'reply.reset', error, next: unsafe },
      // A call that never began.
      { type: 'tool.end', callId: 'c1', name: unsafe, message: { ...result, synthetic: 'skipped' } },
      { type: 'source.status', source: unsafe, trouble: unsafe },
      { type: 'error', error },
      { ...end, stopReason: 'error', error },
      { ...end, stopReason: 'refusal', refusal: { guard: unsafe, reason: unsafe } },
    ])
      print(event as unknown as AgentEvent)
    assert.is(printed.split('\n').length, 9)
    assert.not.match(printed, controls)
  })

  it('move no cursor in JSON, and mean the same', async (context) => {
    const { definition } = helpfulAgent()
    const { runtime, server } = await serveAgents(context, [definition])
    await runtime.spawn(definition, { id: 'a1' })
    const args = ['send', server.url, 'a1', unsafe, '--json']
    const { stdout, raw } = await endedCli(context, args, { isTerminal: true })
    assert.not.match(raw, controls)
    assert.ok(
      stdout
        .trimEnd()
        .split('\n')
        .some((line) => JSON.stringify(JSON.parse(line)).includes(JSON.stringify(unsafe).slice(1, -1))),
    )
  })

  it('are in the file as they were, and at a terminal without what moves its cursor', async (context) => {
    const { dir } = await storeFolder(context)
    await recordSession(dir, { id: 's1', prompts: ['go'], replies: [{ text: unsafe }] })
    for (const form of ['--markdown', '--jsonl']) {
      const args = ['export', 's1', '--dir', dir, form]
      const piped = await endedCli(context, args)
      assert.match(piped.raw, form === '--jsonl' ? '\u009B2Jd' : unsafe)
      const { raw } = await endedCli(context, args, { isTerminal: true })
      assert.match(raw, '2Jd')
      assert.not.match(raw, controls)
    }
  })
})
