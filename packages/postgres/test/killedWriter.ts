import { postgresStore } from '../../../src/postgres.ts'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'

// Has a log when it is killed.
const [, , place = '', schema = ''] = process.argv
const store = postgresStore(place, { schema, leaseMs: 600_000 })
const { epoch } = await store.open('a')
await store.append('a', recordsBetween(1, 1), epoch)
process.kill(process.pid, 'SIGKILL')
