import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { nextTurn } from '../../../test/support/runCase.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { openHouse, silentModel } from '../../acp/test/acpHarness.ts'
import type { AgUiRun } from '../src/agUiRun.ts'
import { openRun } from '../src/openRun.ts'
import { overHttp } from '../src/overHttp.ts'

describe('a client of AG-UI that leaves during a run', (it) => {
  it('is written to no more, and another one is', async (context) => {
    const { model } = silentModel()
    const { access } = await openHouse(context, [defineAgent({ name: 'silent', model })])
    const [own, threads] = [access(), new WeakMap()]
    let run: AgUiRun | undefined
    const server = createServer((request, response) => {
      const open = async (input: Parameters<typeof openRun>[1]): Promise<AgUiRun> =>
        (run = await openRun(own, input, { threads, definition: undefined }))
      void overHttp(request, response, own, { open, connection: { onLeave: () => {} } })
    })
    context.cleanup(() => server.close())
    context.cleanup(() => server.closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const watch = async (): Promise<AbortController> => {
      const leaving = new AbortController()
      const messages = [{ id: 'm', role: 'user', content: 'x' }]
      const { port } = server.address() as AddressInfo
      const answer = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ threadId: 'a', runId: 'r', tools: [], context: [], messages }),
        signal: leaving.signal,
      })
      assert.is(answer.status, 200)
      return leaving
    }
    const [first] = [await watch(), await watch()]
    const left = async (many: number): Promise<void> => {
      for (let turn = 0; turn < 1_000 && run!.observers.size !== many; turn += 1) await nextTurn()
      assert.is(run!.observers.size, many)
    }
    await left(2)
    first.abort()
    await left(1)
  })
})

describe('a client of AG-UI that is no longer let in while its run is looked up', (it) => {
  const said = { messages: [{ id: 'm', role: 'user', content: 'x' }] }
  for (const [what, asked] of [
    ['says nothing', said],
    ['aborts nothing', { messages: [], forwardedProps: { command: 'abort' } }],
  ] as const)
    it(what, async (context) => {
      const { model } = silentModel()
      const { access, runtime } = await openHouse(context, [defineAgent({ name: 'silent', model })])
      const [own, rules] = [access(), { threads: new WeakMap(), definition: undefined }]
      const input = (runId: string, given: object): Parameters<typeof openRun>[1] =>
        ({ threadId: 'a', runId, tools: [], context: [], ...given }) as never
      await openRun(own, input('r', said), rules)
      const agent = runtime.agent('a')!
      const before = agent.lastSeq
      let isLetIn = true
      Object.assign(own, {
        wasAsked: async () => (isLetIn = false),
        checkAdmitted: () => {
          if (!isLetIn) throw new RuntimeError('BRIDGE_UNAUTHORISED', 'Gone.')
        },
      })
      await assert.rejects(openRun(own, input('r2', asked), rules), withCode('BRIDGE_UNAUTHORISED'))
      assert.equal([agent.lastSeq, agent.state], [before, 'replying.requesting'])
    })
})
