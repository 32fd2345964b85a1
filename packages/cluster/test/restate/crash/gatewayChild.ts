/** A gateway of the crash cells: `node gatewayChild.ts <logs>`. Prints `{ port }`; the end of its input ends it. */
import { postgresStore } from '../../../../../src/postgres.ts'
import { serveGateway } from '../../../src/serveGateway.ts'
import { sqliteStore } from '../../../../../src/sqlite.ts'
import { secret } from './workerSettings.ts'

const where = process.argv[2]!
const directory = where.startsWith('postgres:') ? postgresStore(where) : sqliteStore(where)
const gateway = await serveGateway({ directory, secret, inspector: false })
process.stdout.write(`${JSON.stringify({ port: Number(new URL(gateway.url).port) })}\n`)
process.stdin.on('end', () => process.exit())
process.stdin.resume()
