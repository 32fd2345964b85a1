import type { RunAgentInput } from '@ag-ui/core'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { nextTurn } from '../../../test/support/runCase.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { openHouse, silentModel } from '../../acp/test/acpHarness.ts'
import { openRun } from '../src/openRun.ts'
import { overHttp } from '../src/overHttp.ts'
import type { Rules } from '../src/threads.ts'

describe('a client of AG-UI that leaves during a run', (it) => {
  for (const abortOnLeave of [false, true])
    it(`is written to no more, and another one is${abortOnLeave ? ', whose run is not aborted' : ''}`, async (context) => {
      const { model } = silentModel()
      const { access } = await openHouse(context, [defineAgent({ name: 'silent', model })])
      const own = access()
      const rules: Rules = { threads: new WeakMap(), definition: undefined }
      const connection = { onLeave: () => {} }
      const open = (input: RunAgentInput) => openRun(own, input, rules)
      const server = createServer(
        (request, response) =>
          void overHttp({ request, response, access: own, connection, rules, open, abortOnLeave }, '/ag-ui'),
      )
      context.cleanup(() => server.close())
      context.cleanup(() => server.closeAllConnections())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const watch = async (): Promise<AbortController> => {
        const leaving = new AbortController()
        const messages = [{ id: 'm', role: 'user', content: 'x' }]
        const { port } = server.address() as AddressInfo
        const answer = await fetch(`http://127.0.0.1:${port}/ag-ui`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ threadId: 'a', runId: 'r', tools: [], context: [], messages }),
          signal: leaving.signal,
        })
        assert.is(answer.status, 200)
        return leaving
      }
      const [first, second] = [await watch(), await watch()]
      const run = rules.threads.get(await own.reading('a'))!.run('r')!
      const left = async (many: number): Promise<void> => {
        for (let turn = 0; turn < 1_000 && run.observers.size !== many; turn += 1) await nextTurn()
        assert.is(run.observers.size, many)
      }
      await left(2)
      first.abort()
      await left(1)
      assert.is(run.ending, undefined)
      second.abort()
      await left(0)
      assert.equal(run.ending, abortOnLeave ? { type: 'cancelled' } : undefined)
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
