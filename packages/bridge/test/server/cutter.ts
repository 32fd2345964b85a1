import { connect as connectSocket, createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { endTogether } from '../../../../test/support/endTogether.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

/** A wire between clients and a server that can be cut. */
export interface Cutter {
  /** Where clients connect. */
  readonly url: string
  /** Connections made so far. */
  readonly connections: number
  /** Cuts every connection, without a word. */
  cut(): void
  /** Leads to another server from now on. */
  lead(port: number): void
  /** Holds back what the server sends, and sends it later. */
  hold(): void
  release(): void
}

/** Starts one; it is closed after the case. */
export async function startCutter({ cleanup }: Pick<CaseContext, 'cleanup'>, port: number): Promise<Cutter> {
  let target = port
  let connections = 0
  let isHeld = false
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((near) => {
    connections += 1
    const far = connectSocket(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    endTogether(near, far)
    near.on('close', () => pairs.delete(pair))
    near.pipe(far)
    far.on('data', (data) => near.write(data))
    if (isHeld) far.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
    pairs.clear()
  }
  cleanup(async () => {
    cut()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/bridge`,
    get connections() {
      return connections
    },
    cut,
    lead: (other) => void (target = other),
    hold() {
      isHeld = true
      for (const [, far] of pairs) far.pause()
    },
    release() {
      isHeld = false
      for (const [, far] of pairs) far.resume()
    },
  }
}

/** Numbers from 0 to 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
