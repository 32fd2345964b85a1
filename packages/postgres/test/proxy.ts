import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { PostgresContext } from './postgres.ts'

/** A way to the database that can be disturbed. */
export interface Proxy {
  /** The address of the database by this way. */
  readonly url: string
  /**
   * Fate of bytes from now on: `open`: they arrive; `deaf`: nothing comes back; `hole`: nothing arrives anywhere, and new
   * connections neither.
   */
  mode: 'open' | 'deaf' | 'hole'
  /** Breaks all connections there are. */
  cut(): void
  /** Resolves once a new connection is opened. */
  connected(): Promise<void>
  /** Resolves once bytes were swallowed that came from the database, as an answer. */
  swallowed(): Promise<void>
}

/** Opens a way to the server, closed after the case. */
export async function proxyTo({ server, database, cleanup }: PostgresContext, user = 'postgres'): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let heard = Promise.withResolvers<void>()
  let opened = Promise.withResolvers<void>()
  const proxy = { mode: 'open' as Proxy['mode'] }
  const listener = createServer((near) => {
    opened.resolve()
    const far = connect(server.socket)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (bytes) => {
      if (proxy.mode !== 'hole') far.write(bytes)
    })
    far.on('data', (bytes) => {
      if (proxy.mode === 'open') near.write(bytes)
      else heard.resolve()
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  cleanup(async () => {
    cut()
    await new Promise((resolve) => listener.close(resolve))
  })
  const { port } = listener.address() as AddressInfo
  return Object.assign(proxy, {
    url: `postgres://${user}@127.0.0.1:${port}/${database}`,
    cut,
    connected: () => {
      opened = Promise.withResolvers()
      return opened.promise
    },
    swallowed: () => {
      heard = Promise.withResolvers()
      return heard.promise
    },
  })
}
