import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { registerDeployment } from '../src/cluster/registerDeployment.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { withCode } from '../../../test/support/agentHarness.ts'
import { freePort } from '../../../test/support/freePort.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'

const workers = 'http://workers:9080'

/** An administration of an engine that answers so, one after the other, and with the last one from then on. */
async function engine(
  { cleanup }: CaseContext,
  answers: readonly (readonly [status: number, message: string])[],
): Promise<{ readonly url: string; readonly asked: unknown[]; readonly server: Server }> {
  const asked: unknown[] = []
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (body: string) => {
      const [status, message] = answers[Math.min(asked.length, answers.length - 1)]!
      asked.push(JSON.parse(body))
      response.writeHead(status).end(JSON.stringify({ message }))
    })
  })
  cleanup(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server }
}

describe('telling an engine where its workers are', (it) => {
  it('goes on until it has taken that, and says why it has not, each reason once', async (context) => {
    const unreachable = [400, '[META0003] cannot reach the service endpoint'] as const
    const { url, asked } = await engine(context, [
      unreachable,
      unreachable,
      [503, 'not yet'],
      [429, 'slower'],
      [201, ''],
    ])
    const told: string[] = []
    const { signal } = context
    await registerDeployment(url, workers, { clock: systemClock, signal, told: (why) => told.push(why) })
    assert.is(asked.length, 5)
    assert.equal(told, [
      `the engine at ${url} says: [META0003] cannot reach the service endpoint`,
      `the engine at ${url} says: not yet`,
      `the engine at ${url} says: slower`,
    ])
  })

  it('says that no engine answers, and why, and ends when it is to', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const ending = new AbortController()
    const told: string[] = []
    await registerDeployment(url, workers, {
      clock: systemClock,
      signal: ending.signal,
      told(why) {
        told.push(why)
        ending.abort()
      },
    })
    assert.is(told.length, 1)
    assert.match(told[0]!, new RegExp(`^no engine answers at ${url}: .*ECONNREFUSED`))
  })

  it('ends with what the engine says when it refuses', async (context) => {
    const { url } = await engine(context, [[409, 'it is another’s']])
    await assert.rejects(
      () => registerDeployment(url, workers, { clock: systemClock, signal: context.signal }),
      withCode('INVALID_OPTION', `does not take ${workers}: it is another’s`),
    )
  })

  it('refuses addresses that can never work, before anything is opened, and quotes none', async (context) => {
    const worker = ['worker', './agents.ts', '--logs', 'sqlite:agents.db']
    const known = { '--register': 'http://engine:9070', '--url': workers, '--ingress': 'http://engine:8080' }
    for (const option of Object.keys(known))
      for (const [wrong, says] of [
        ['engine:9070', 'takes an address such as http'],
        ['hunter2', 'takes an address such as http'],
        ['http://user:hunter2@engine:9070', 'without a user or password'],
      ] as const) {
        const options = Object.entries({ ...known, [option]: wrong }).flat()
        const { code, stderr } = await runCli(context, [...worker, ...options])
        assert.is(code, 2)
        assert.match(stderr, `${option} takes an address`)
        assert.match(stderr, says)
        assert.not.match(stderr, 'hunter2')
      }
  })
})
