import { readFileSync, writeFileSync } from 'node:fs'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const db = read('db.json')
for (const name of read('migrations/order.json').filter((name) => !db.done.includes(name))) {
  const { up } = await import(`./migrations/${name}.mjs`)
  try {
    up(db.tables)
  } catch (error) {
    console.error(`${name}: ${error.message}`)
    process.exit(1)
  }
  db.done.push(name)
}
writeFileSync('db.json', `${JSON.stringify(db)}\n`)
console.log(`${db.done.length} migrations are done`)
