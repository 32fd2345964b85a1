/** An MCP server of the clerk: `<folder> <port> <records>`. It kills itself after so many records of its agents; 0: never. Prints its port. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, fileStore } from '../../../src/index.ts'
import { clerkWith } from '../../a2a/test/clerk.ts'
import { mcpServer } from '../src/server/mcpServer.ts'

const [folder = '', port = '0', most = '0'] = process.argv.slice(2)
const paid: string[] = []
paid.push = (key: string): number => {
  appendFileSync(join(folder, 'paid'), `${key}\n`)
  return 0
}
const clerk = clerkWith(paid)
const runtime = await createRuntime({ store: fileStore(join(folder, 'logs')) })
let seen = 0
runtime.onAgent((agent) => {
  agent.subscribe((event) => {
    if (event.seq === undefined || event.type === 'state.changed') return
    seen += 1
    if (seen === Number(most)) process.kill(process.pid, 'SIGKILL')
  })
})
const server = await runtime.serve({
  definitions: [clerk],
  endpoints: [mcpServer(runtime, [clerk]).endpoint()],
  port: Number(port),
})
console.log(`port ${server.port}`)
