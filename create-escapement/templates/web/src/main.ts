import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileStore } from 'escapement'
import { chooseModel } from './model.ts'
import { openServer } from './server.ts'

if (!existsSync('dist/index.html')) console.log('The page is not built yet: npm run build does it.')
const staffToken = process.env['STAFF_TOKEN'] ?? randomBytes(24).toString('base64url')
const { server, runtime } = await openServer(chooseModel(), fileStore('.escapement'), {
  pageFolder: 'dist',
  staffToken,
})
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as { port: number }
console.log(`http://127.0.0.1:${port}/`)
// The token of the environment is known to whoever set it.
const shown = process.env['STAFF_TOKEN'] === undefined ? `#token=${staffToken}` : ''
console.log(`for staff: http://127.0.0.1:${port}/staff/${shown}`)

process.once('SIGINT', () => {
  server.close()
  server.closeAllConnections()
  void runtime.close()
})
