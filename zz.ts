import { PostgresServer } from './test/postgres/server.ts'
import { postgresStore } from './src/postgres.ts'
import { recordsBetween } from './src/testing/contractDemands.ts'
const server = await PostgresServer.start()
const db = await server.newDatabase()
const store = postgresStore(server.url(db))
for (const n of [1, 100, 1000]) {
  const ids = Array.from({ length: n }, (_, i) => `n${n}-${i}`)
  const t0 = performance.now()
  await Promise.all(ids.map((id) => store.open(id)))
  const t1 = performance.now()
  const rounds = n === 1 ? 500 : n === 100 ? 40 : 10
  const cpu = process.cpuUsage()
  await Promise.all(ids.map(async (id) => { for (let r = 0; r < rounds; r += 1) await store.append(id, recordsBetween(2 * r + 1, 2 * r + 2)) }))
  const t2 = performance.now()
  const c = process.cpuUsage(cpu)
  console.log(n, 'open ms', (t1 - t0).toFixed(0), 'records/s', (n * rounds * 2 / ((t2 - t1) / 1000)).toFixed(0), 'cpu us/record', ((c.user + c.system) / (n * rounds * 2)).toFixed(1))
}
await new Promise((r) => setTimeout(r, 1500))
console.log(await server.query(db, `select relname, n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where n_tup_upd > 0`))
console.log(await server.query(db, `explain select number from escapement.agents where last_seq > 0 order by minute desc, written_at desc, id limit 50`))
let count = 0
for await (const r of store.read('n1-0')) count += 1
console.log(count)
console.log((await server.query(db, `explain (analyze, costs off) SELECT a.number, a.last_seq, r.seq, r.body FROM escapement.agents a
    LEFT JOIN LATERAL (SELECT seq, body FROM escapement.records WHERE agent = a.number AND seq >= 5 ORDER BY seq LIMIT 1024) r ON true WHERE a.id = 'n1-0' ORDER BY r.seq`)).map((x) => Object.values(x)[0]).join('\n'))
await store.close()
await server.remove()
