// node examples/apps/react/main.ts [folder] — without a key: the model is a function. It prints an address for each user; Ctrl-D ends it.
import { mkdtemp } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { fileStore, policyModel } from '../../../src/index.ts'
import { serveDesk, type User } from './server.ts'

const entry = join(import.meta.dirname, 'page.tsx')
const lib = { entry, formats: ['es' as const], fileName: 'page' }
const define = { 'process.env.NODE_ENV': '"production"' }
const built = await build({ configFile: false, logLevel: 'error', define, build: { write: false, lib } })
const [{ output }] = built as [Rolldown.RolldownOutput]
const page = `<!doctype html><html lang="en"><title>Desk</title><meta name="viewport" content="width=device-width">
<style>
  body { font: 16px/1.5 system-ui; max-width: 40rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
  .user { text-align: right } input { width: 70%; font: inherit } button { font: inherit; margin-inline-start: 0.5rem }
</style><body><script type="module">${output[0].code.replaceAll('</script', String.raw`<\/script`)}</script></html>`

const model = policyModel(
  ({ messages }) => {
    const last = messages.at(-1)!
    if (last.role === 'toolResult') return last.isError ? 'Then I will not.' : 'It is on its way to your account.'
    const said = last.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(' ')
    const order = /back .*?(\w+)\W*$/.exec(said)?.[1]
    return order === undefined
      ? 'It leaves the workshop tomorrow.'
      : { text: 'I have to ask for that.', toolCalls: [{ name: 'refund', input: { order } }] }
  },
  { wordDelayMs: 40 },
)
const users: readonly User[] = [
  { id: 'ann', isStaff: false },
  { id: 'bob', isStaff: false },
  { id: 'zoe', isStaff: true },
]
const userOf = ({ headers }: Pick<IncomingMessage, 'headers'>): User | undefined =>
  users.find(({ id }) => headers.cookie === `user=${id}`)
const server = createServer((request, response) => {
  const { url = '/' } = request
  const login = users.find(({ id }) => url === `/as/${id}`)
  const user = userOf(request)
  // In place of a login.
  if (login !== undefined)
    response.writeHead(302, { location: '/', 'set-cookie': `user=${login.id}; Path=/; HttpOnly; SameSite=Lax` }).end()
  else if (url === '/me' && user !== undefined)
    void (user.isStaff ? Promise.resolve() : desk.conversationOf(user)).then((conversation) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ conversation })),
    )
  else if (url === '/') response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
  else response.writeHead(404).end()
})
const folder = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'desk-')))
const desk = await serveDesk(server, model, fileStore(folder), userOf)
await new Promise<void>((resolve) => server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', resolve))
const { port } = server.address() as { port: number }
for (const { id, isStaff } of users) console.log(`${isStaff ? 'staff, ' : ''}${id}: http://127.0.0.1:${port}/as/${id}`)
process.stdin.resume().once('end', () => {
  server.close()
  server.closeAllConnections()
  void desk.runtime.close()
})
