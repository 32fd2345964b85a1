import { createServer, type AddressInfo } from 'node:net'

/** A port of this machine that nobody listens on now, for a program that does not say which one it took. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
