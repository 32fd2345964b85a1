import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const { name, port } = read('settings.json')
// Ports that services of this machine listen on.
const taken = read('ports.json')
if (Object.hasOwn(taken, port)) {
  console.error(`listen EADDRINUSE: address already in use :::${port}`)
  process.exit(1)
}
if (!Number.isInteger(port) || port < 1024 || port > 65535) throw new Error(`port ${port} cannot be used`)
mkdirSync('out', { recursive: true })
writeFileSync('out/ready.json', JSON.stringify({ name, port }))
console.log(`${name} is ready on port ${port}`)
