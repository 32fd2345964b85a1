import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http2'
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { connect } from '../../bridge/src/client/connect.ts'
import { Engine } from '../../cluster/test/restate/engine.ts'
import { findRestate } from '../../cluster/test/restate/installRestate.ts'
import { freePort } from '../../../test/support/freePort.ts'
import { assert, type CaseContext } from '../../../test/support/suite.ts'
import { cliCommand, hasText, projectFolder, startChild, waitFor, type CliChild } from './cliChild.ts'
import { describeWithHaproxy, startBalancer } from './haproxy.ts'

const index = new URL('../../../src/index.ts', import.meta.url).href

/** An agent that notes that it is asked, and answers once there is a file "go". */
const agents = `import { appendFileSync, existsSync } from 'node:fs'
import { defineAgent, policyModel } from '${index}'
export const keeper = defineAgent({
  name: 'keeper',
  model: policyModel(async ({ messages }) => {
    appendFileSync('asked', process.pid + ' ' + messages.at(-1).content.map(({ text }) => text).join('') + '\\n')
    while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 50))
    return 'Kept.'
  }),
})
`

const env = { ESCAPEMENT_GATEWAY_SECRET: 'a secret of workers and gateways, long enough' }
const logs = ['--logs', 'sqlite:agents.db', '--json']

const project = (context: CaseContext): string =>
  projectFolder(context, { 'agents.ts': agents, 'package.json': '{ "type": "module" }' })

interface WorkerOptions {
  readonly dir: string
  readonly host: string
  readonly port: number
  readonly engine?: { readonly ingress: string; readonly admin: string; readonly url: string }
}

/** A worker program; it does not wait until that is ready. */
function startWorker(context: CaseContext, { dir, host, port, engine }: WorkerOptions): CliChild {
  const told = engine === undefined ? [] : ['--register', engine.admin, '--url', engine.url]
  const where = ['--host', host, '--port', String(port), '--ingress', engine?.ingress ?? 'http://127.0.0.1:1']
  return startChild(context, cliCommand(['worker', './agents.ts', ...logs, ...where, ...told]), { cwd: dir, env })
}

/** Id of a worker's process, by its log. */
function pidOf(worker: CliChild): number {
  const line = worker.stderr.split('\n').find((one) => one.includes('The worker listens.'))!
  return (JSON.parse(line) as { pid: number }).pid
}

async function isWell(url: string): Promise<boolean> {
  const session = connectHttp2(url)
  try {
    const asked = session.request({ ':path': '/health' })
    const [headers] = (await once(asked, 'response')) as [IncomingHttpHeaders]
    return Number(headers[':status']) === 200
  } finally {
    session.destroy()
  }
}

describeWithHaproxy('the balancer with the settings of examples/cluster', (it) => {
  it('sends requests to workers that are well, and to no other', { timeoutMs: 60_000 }, async (context, program) => {
    const dir = project(context)
    const port = await freePort()
    const [one, other] = ['127.0.0.2', '127.0.0.3'].map((host) => ({
      host,
      child: startWorker(context, { dir, host, port }),
    }))
    const { names, url, untilUp } = await startBalancer(context, program, { workerPort: port })
    // It takes an address that it has just heard of for well, until it has looked.
    await Promise.all([one!.child.until('\n'), other!.child.until('\n')])
    names.addresses = [one!.host, other!.host]
    await untilUp(names.addresses)
    assert.ok(await isWell(url))
    one!.child.signal('SIGSTOP')
    await untilUp([other!.host])
    for (let count = 0; count < 5; count++) assert.ok(await isWell(url))
    one!.child.signal('SIGCONT')
    await untilUp(names.addresses)
    other!.child.signal('SIGTERM')
    await untilUp([one!.host])
    assert.is((await other!.child.ended).code, 0)
    for (let count = 0; count < 5; count++) assert.ok(await isWell(url))
    startWorker(context, { dir, host: other!.host, port })
    await untilUp(names.addresses)
  })

  it(
    'has fifty workers, which no plain answer of a name server holds',
    { timeoutMs: 120_000 },
    async (context, program) => {
      const server = createServer((_, response) => response.end('ok'))
      context.cleanup(() => server.close())
      const port = await freePort()
      server.listen(port, '0.0.0.0')
      await once(server, 'listening')
      const { names, untilUp } = await startBalancer(context, program, { workerPort: port })
      names.addresses = Array.from({ length: 50 }, (_, number) => `127.0.1.${number + 1}`)
      await untilUp(names.addresses)
    },
  )

  it('starts where it may have few descriptors', { timeoutMs: 60_000 }, async (context, program) => {
    const server = createServer((_, response) => response.end('ok'))
    context.cleanup(() => server.close())
    const port = await freePort()
    server.listen(port, '127.0.0.2')
    await once(server, 'listening')
    const { names, untilUp, url } = await startBalancer(context, program, { workerPort: port, descriptors: 1_024 })
    names.addresses = ['127.0.0.2']
    await untilUp(names.addresses)
    assert.ok(await isWell(url))
  })

  if (findRestate() !== undefined)
    it(
      'is the way from an engine to workers, which are ready once the engine knows them',
      { timeoutMs: 120_000 },
      async (context, program) => {
        const dir = project(context)
        const engine = await Engine.start()
        context.cleanup(() => engine.remove())
        const [workerPort, port] = [await freePort(), await freePort()]
        const { ingress, admin } = engine
        const known = { ingress, admin, url: `http://127.0.0.1:${port}` }
        const hosts = ['127.0.0.2', '127.0.0.3']
        const workers = hosts.map((host) => startWorker(context, { dir, host, port: workerPort, engine: known }))
        const gateway = startChild(context, cliCommand(['gateway', ...logs]), { cwd: dir, env })
        await gateway.until('\n')
        const client = connect((JSON.parse(gateway.stdout) as { url: string }).url)
        context.cleanup(() => client.close())
        await waitFor(
          () => workers.every(({ stderr }) => stderr.includes('The engine does not know the workers yet')),
          context.signal,
        )
        assert.equal(
          workers.map(({ stdout }) => stdout),
          ['', ''],
        )
        // Asked too early, and not refused.
        const early = client.spawn('keeper', { id: 'early' })
        const { names, untilUp } = await startBalancer(context, program, { workerPort, port })
        names.addresses = hosts
        await untilUp(hosts)
        for (const worker of workers) await worker.until('\n')
        // More at once than a connection of HTTP/2 takes by default.
        const ids = Array.from({ length: 120 }, (_, number) => `k${number}`)
        const spawned = await Promise.all([early, ...ids.map((id) => client.spawn('keeper', { id }))])
        const runs = spawned.map((agent) => agent.prompt('Keep it.'))
        const asked = join(dir, 'asked')
        const asks = (): string[] => (hasText(asked) ? readFileSync(asked, 'utf8').trim().split('\n') : [])
        await waitFor(() => asks().length >= runs.length, context.signal)
        assert.is(new Set(asks().map((line) => line.split(' ')[0])).size, 2, 'both workers have something to do')
        workers[0]!.signal('SIGKILL')
        await untilUp([hosts[1]!])
        writeFileSync(join(dir, 'go'), 'go')
        for (const { result } of runs) assert.is((await result).text, 'Kept.')
      },
    )

  if (findRestate() !== undefined)
    it(
      'takes an agent to where it is in memory, and nothing to a worker that is told to end, which ends what it has',
      { timeoutMs: 240_000 },
      async (context, program) => {
        const dir = project(context)
        const engine = await Engine.start()
        context.cleanup(() => engine.remove())
        const [workerPort, port] = [await freePort(), await freePort()]
        const { ingress, admin } = engine
        const known = { ingress, admin, url: `http://127.0.0.1:${port}` }
        const hosts = ['127.0.0.2', '127.0.0.3', '127.0.0.4']
        const workers = hosts.map((host) => startWorker(context, { dir, host, port: workerPort, engine: known }))
        const { names, untilUp } = await startBalancer(context, program, { workerPort, port, isPatient: true })
        names.addresses = hosts
        await untilUp(hosts)
        for (const worker of workers) await worker.until('\n')
        const gateway = startChild(context, cliCommand(['gateway', ...logs]), { cwd: dir, env })
        await gateway.until('\n')
        const client = connect((JSON.parse(gateway.stdout) as { url: string }).url)
        context.cleanup(() => client.close())
        const ids = Array.from({ length: 40 }, (_, number) => `k${number}`)
        const keepers = await Promise.all(ids.map((id) => client.spawn('keeper', { id })))
        const asked = (): { readonly id: string; readonly pid: string }[] =>
          hasText(join(dir, 'asked'))
            ? readFileSync(join(dir, 'asked'), 'utf8')
                .trim()
                .split('\n')
                .map((line) => line.split(' '))
                .map(([pid = '', id = '']) => ({ id, pid }))
            : []
        const placeOf = (from: number): Map<string, string> =>
          new Map(
            asked()
              .slice(from)
              .map(({ id, pid }) => [id, pid]),
          )
        writeFileSync(join(dir, 'go'), 'go')
        await Promise.all(keepers.map((agent) => agent.prompt(agent.id).result))
        const first = placeOf(0)
        await Promise.all(keepers.map((agent) => agent.prompt(agent.id).result))
        const second = placeOf(40)
        const stayed = ids.filter((id) => first.get(id) === second.get(id)).length
        assert.ok(stayed >= 32, `${stayed} of 40 found their agent in memory`)
        assert.is(new Set(first.values()).size, 3)
        rmSync(join(dir, 'go'))
        const runs = keepers.map((agent) => agent.prompt(agent.id))
        await waitFor(() => asked().length === 120, context.signal)
        const pid = String(pidOf(workers[0]!))
        assert.ok([...placeOf(80).values()].includes(pid))
        workers[0]!.signal('SIGTERM')
        await untilUp(hosts.slice(1))
        const late = await client.spawn('keeper', { id: 'late' })
        const lateRun = late.prompt('late')
        await waitFor(() => asked().length === 121, context.signal)
        assert.is.not(placeOf(120).get('late'), pid)
        writeFileSync(join(dir, 'go'), 'go')
        for (const { result } of [...runs, lateRun]) assert.is((await result).text, 'Kept.')
        assert.is(asked().length, 121, 'nothing was asked twice')
        assert.is((await workers[0]!.ended).code, 0)
      },
    )
})
