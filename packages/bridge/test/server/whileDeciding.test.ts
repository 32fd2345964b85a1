import { request as httpRequest } from 'node:http'
import { WebSocket } from 'ws'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { agUi } from '../../../ag-ui/src/agUi.ts'
import { aiSdkChat } from '../../../ai-sdk/src/aiSdkChat.ts'
import type { Endpoint } from '../../src/server/endpoint.ts'
import type { Grant } from '../../src/server/roles.ts'
import { nextTurn } from '../../../../test/support/runCase.ts'
import { serveAgents } from './bridgeHarness.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(() => 'yes') })
const admin: Grant = { role: 'admin', owner: 'ann' }

interface Visit {
  /** Resolves with the status, the close code, or why there is none. */
  readonly outcome: Promise<number | string>
  leave(): void
}

const asked =
  (method: string, path: string, body?: object) =>
  (port: number): Visit => {
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent: false,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
    })
    const outcome = new Promise<number | string>((resolve) => {
      request.on('response', (response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      request.on('error', () => resolve('gone'))
    })
    request.end(body === undefined ? undefined : JSON.stringify(body))
    return { outcome, leave: () => void request.destroy() }
  }

const dialled =
  (path: string, protocols: string[] = []) =>
  (port: number): Visit => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols)
    socket.on('error', () => {})
    const outcome = new Promise<number | string>((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode!))
      socket.on('message', (data) => {
        const { type } = JSON.parse((data as Buffer).toString()) as { type: string }
        if (type === 'welcome') resolve('let in')
      })
      socket.on('close', (code) => resolve(code))
    })
    if (protocols.length > 0) socket.on('open', () => socket.send('{"type":"hello"}'))
    return { outcome, leave: () => socket.terminate() }
  }

const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
const run = {
  threadId: 'mine',
  runId: 'r1',
  messages: [{ id: 'm1', role: 'user', content: 'go' }],
  tools: [],
  context: [],
}

/** Every way in, with the outcome for who may. */
const doors: Readonly<Record<string, { readonly visit: (port: number) => Visit; readonly letIn: number | string }>> = {
  bridge: { visit: dialled('/bridge', [bridgeProtocol]), letIn: 'let in' },
  'a socket': { visit: dialled('/own'), letIn: 1000 },
  'an endpoint': { visit: asked('GET', '/own'), letIn: 200 },
  'an endpoint, with a body': { visit: asked('POST', '/own', {}), letIn: 200 },
  'a chart': { visit: asked('GET', '/agents/a1/chart.mmd'), letIn: 200 },
  'an artifact': { visit: asked('GET', `/agents/a1/artifacts/${'0'.repeat(64)}`), letIn: 404 },
  'AG-UI': { visit: asked('POST', '/ag-ui', run), letIn: 200 },
  useChat: { visit: asked('POST', '/api/chat', { id: 'mine', messages: [message] }), letIn: 200 },
}

/** A server whose application decides when the case says so. */
async function deciding(context: CaseContext) {
  const decisions: PromiseWithResolvers<Grant | null>[] = []
  const heard: (() => void)[] = []
  const reached: string[] = []
  const own: Endpoint = {
    path: '/own',
    answer(_, response) {
      reached.push('answer')
      response.end('yes')
    },
    connect(socket) {
      reached.push('connect')
      socket.close(1000, 'bye')
    },
  }
  const clock = simulatedClock()
  const serving = await serveAgents(context, [echo], {
    endpoints: [own, agUi(), aiSdkChat()],
    authenticate: () => {
      const decision = Promise.withResolvers<Grant | null>()
      decisions.push(decision)
      for (const resolve of heard.splice(0)) resolve()
      return decision.promise
    },
    runtime: { clock },
  })
  await serving.runtime.spawn(echo, { id: 'a1' })
  const { port } = serving.server
  const isAsked = async (): Promise<PromiseWithResolvers<Grant | null>> => {
    while (decisions.length === 0) await new Promise<void>((resolve) => heard.push(resolve))
    return decisions.shift()!
  }
  return { ...serving, port, isAsked, reached, clock }
}

const settled = async (holds: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 200 && !holds(); turn += 1) await nextTurn()
}

describe('while the application decides who comes', (it) => {
  for (const [name, { visit, letIn }] of Object.entries(doors)) {
    const isBridge = name === 'bridge'
    it(`nobody is let in at ${name}, and then as it decides`, async (context) => {
      for (const [decide, expected] of [
        [(one: PromiseWithResolvers<Grant | null>) => one.resolve(admin), letIn],
        [(one: PromiseWithResolvers<Grant | null>) => one.resolve(null), isBridge ? 4001 : 401],
        [(one: PromiseWithResolvers<Grant | null>) => one.resolve({ role: 'king' } as never), isBridge ? 1013 : 500],
        [(one: PromiseWithResolvers<Grant | null>) => one.reject(new Error('no database')), isBridge ? 1013 : 500],
      ] as const) {
        const { port, isAsked, runtime, reached } = await deciding(context)
        const { outcome, leave } = visit(port)
        const decision = await isAsked()
        assert.equal([reached, runtime.agents().length], [[], 1])
        decide(decision)
        assert.is(await outcome, expected)
        if (expected !== letIn) assert.equal([reached, runtime.agents().length], [[], 1])
        leave()
      }
    })

    it(`takes too long, who comes to ${name} is told to come again`, async (context) => {
      const { port, isAsked, reached, clock } = await deciding(context)
      const { outcome } = visit(port)
      await isAsked()
      await clock.advance(10_000)
      assert.is(await outcome, isBridge ? 1013 : 500)
      assert.equal(reached, [])
    })

    it(`who leaves ${name} has nothing done for them, and takes no room`, async (context) => {
      const { port, isAsked, reached, runtime, server } = await deciding(context)
      const left = new Promise<void>((resolve) => {
        const { outcome, leave } = visit(port)
        void outcome.then(() => resolve())
        void isAsked().then(async (decision) => {
          leave()
          // The server hears of it a little later.
          for (let turn = 0; turn < 20; turn += 1) await nextTurn()
          decision.resolve(admin)
        })
      })
      await left
      for (let turn = 0; turn < 20; turn += 1) await nextTurn()
      await settled(() => server.connections === 0)
      assert.equal([reached, runtime.agents().length, server.connections], [[], 1, 0])
    })

    it(`a server that closes lets nobody in at ${name}`, async (context) => {
      const { port, isAsked, reached, runtime, server } = await deciding(context)
      const { outcome } = visit(port)
      const decision = await isAsked()
      const agents = runtime.agents().length
      const closing = server.close()
      decision.resolve(admin)
      const how = await outcome
      assert.ok([503, 'gone', 1001, 1006, 1013].includes(how), `${how}`)
      await closing
      assert.equal([reached, runtime.agents().length], [[], agents])
    })

    it(`a server that waits for its last client to leave lets nobody in at ${name}`, async (context) => {
      const { port, isAsked, reached, runtime, server, clock, dial } = await deciding(context)
      const last = await dial({ hello: {} })
      ;(await isAsked()).resolve(admin)
      await last.until(({ type }) => type === 'welcome')
      // It does not answer the close.
      last.socket.pause()
      const { outcome } = visit(port)
      const decision = await isAsked()
      const closing = server.close()
      for (let turn = 0; turn < 5; turn += 1) await nextTurn()
      decision.resolve(admin)
      const how = await Promise.race([outcome, settled(() => false).then(() => 'waits')])
      assert.ok([503, 'gone', 1001, 1006, 1013, 'waits'].includes(how), `${how}`)
      assert.equal([reached, runtime.agents().length], [[], 1])
      await clock.advance(60_000)
      await closing
    })
  }
})
