import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../../test/support/freePort.ts'
import { fullOnly } from '../../../test/support/fullOnly.ts'
import { assert, describe, isCi, type CaseContext, type CaseOptions } from '../../../test/support/suite.ts'
import { projectFolder, startChild } from './cliChild.ts'
import { findHaproxy, howToInstall } from './installHaproxy.ts'
import { NameServer } from './nameServer.ts'

type Body = (context: CaseContext, program: string) => unknown

/** Registers a case with the real HAProxy; where there is none it is skipped and says how to have it, and where `CI` is set it fails. */
export function describeWithHaproxy(
  title: string,
  register: (it: (title: string, options: CaseOptions, body: Body) => void) => void,
): void {
  fullOnly('HAProxy')
  describe(title, (it) => {
    const program = findHaproxy()
    const missing = `there is no HAProxy; ${howToInstall}`
    register((name, options, body) => {
      if (program !== undefined) it(name, options, (context) => body(context, program))
      else if (isCi()) it(name, () => assert.unreachable(missing))
      else it.skip(`${name} (skipped: ${missing})`)
    })
  })
}

const shipped = new URL('../../../examples/cluster/haproxy.cfg', import.meta.url)

/** A running balancer. */
export interface RunningBalancer {
  /** Where the engine reaches it. */
  readonly url: string
  readonly names: NameServer
  /** Addresses of the workers that it takes for well, in order. */
  up(): Promise<string[]>
  /** Resolves once these are the ones. */
  untilUp(addresses: readonly string[]): Promise<void>
}

interface BalancerOptions {
  /** Port of all workers, each at an address of its own. */
  readonly workerPort: number
  /** Where it listens. Default: any free one. */
  readonly port?: number
  /** True to take a worker for down only after seconds, as on a machine that has no time for it. */
  readonly isPatient?: true
  /** The most descriptors that it may have. */
  readonly descriptors?: number
}

/** Starts the balancer with the settings of the package, word for word but for the ports and the name server. */
export async function startBalancer(
  context: CaseContext,
  program: string,
  { workerPort, port, descriptors, isPatient }: BalancerOptions,
): Promise<RunningBalancer> {
  const names = await NameServer.start()
  context.cleanup(() => names.close())
  const listensAt = port ?? (await freePort())
  const dir = projectFolder(context)
  const socket = join(dir, 'stats')
  const put = (text: string, own: string, other: string): string => {
    assert.is(text.split(own).length, 2, `"${own}" stands in haproxy.cfg once`)
    return text.replace(own, other)
  }
  let settings = readFileSync(shipped, 'utf8')
  settings = put(settings, 'bind :9080', `bind 127.0.0.1:${listensAt}`)
  settings = put(settings, 'parse-resolv-conf', `nameserver tests 127.0.0.1:${names.port}`)
  settings = put(settings, ':9080"', `:${workerPort}"`)
  if (isPatient === true) settings = put(settings, 'inter 300ms fall 2', 'inter 300ms fall 60')
  writeFileSync(join(dir, 'haproxy.cfg'), settings)
  writeFileSync(join(dir, 'more.cfg'), `global\n  stats socket ${socket}\n`)
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors} && `
  const command = `${limit}exec "$0" -db -f haproxy.cfg -f more.cfg`
  const child = startChild(context, ['sh', '-c', command, program], { cwd: dir, env: { WORKERS: 'workers.test' } })
  const ended = child.ended.then(({ stderr }) => {
    throw new Error(`HAProxy has ended:\n${stderr}`)
  })
  ended.catch(() => {})
  const up = async (): Promise<string[]> => {
    const rows = (await ask(socket, 'show servers state workers')).split('\n').map((row) => row.split(' '))
    // The fourth column has the name, the fifth the address, and 2 in the sixth is: it is used.
    return rows
      .flatMap(([, , , name, address, state]) => (name?.startsWith('worker') && state === '2' ? [address!] : []))
      .toSorted()
  }
  const untilUp = async (addresses: readonly string[]): Promise<void> => {
    const wanted = addresses.toSorted().join()
    while ((await Promise.race([up().catch(() => []), ended])).join() !== wanted) {
      context.signal.throwIfAborted()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  return { url: `http://127.0.0.1:${listensAt}`, names, up, untilUp }
}

async function ask(path: string, question: string): Promise<string> {
  const socket = connect(path)
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => (text += more))
  socket.end(`${question}\n`)
  await once(socket, 'close')
  return text
}
