// node examples/apps/release/main.ts — the server is killed while the build runs and a person is asked; nothing is lost, and nothing is published twice.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/client.ts'
import { Checklist } from './release.ts'

const folder = mkdtempSync(join(tmpdir(), 'release-'))
const token = 'a-token-of-the-releaser'

const free = createServer().listen(0)
await once(free, 'listening')
const { port } = free.address() as AddressInfo
free.close()

async function start(): Promise<{ readonly server: ChildProcess; readonly url: string }> {
  const server = fork(join(import.meta.dirname, 'server.ts'), [folder, String(port), token])
  const [url] = (await once(server, 'message')) as [string]
  return { server, url }
}

let { server, url } = await start()
const client = connect(url, { token, retry: { baseMs: 50 } })
const agent = await client.spawn('clerk', { id: 'release-1' })
let asked = 0
let wasKilled = false
let hasReported = false

const released = new Promise<void>((resolve) => {
  agent.subscribe((event) => {
    switch (event.type) {
      case 'approval.requested': {
        const { name } = event.input as { name: string }
        asked += 1
        if (asked === 2 && !wasKilled) {
          console.log(`may it publish ${name}? The server is killed before anybody answers.`)
          wasKilled = true
          void restart(event.key)
          break
        }
        console.log(`may it publish ${name}? yes, this one`)
        void agent.decide(event.key, 'approve')
        break
      }
      case 'inner.end':
        console.log(`  ${event.name} has ended: call ${event.n} of the script`)
        break
      case 'call.reported':
        hasReported = true
        console.log('the build has reported')
        break
      case 'run.end':
        if (hasReported && event.stopReason === 'stop') resolve()
        break
      default:
    }
  })
})

/** Kills the server, starts another on the same folder, and answers for all further packages. */
async function restart(key: string): Promise<void> {
  server.kill('SIGKILL')
  await once(server, 'exit')
  ;({ server, url } = await start())
  await agent.decide(key, 'approve', { grant: { rule: 'publish', scope: 'session' } })
  console.log('after the restart: yes, and all others of this session')
}

agent.prompt('Release everything.')
await released
const { packages } = Checklist.parse((await agent.appState()).value)
console.log(
  Object.entries(packages)
    .map(([name, state]) => `${name}: ${state}`)
    .join(', '),
)
console.log(`people were asked ${asked} times`)
client.close()
server.kill()
