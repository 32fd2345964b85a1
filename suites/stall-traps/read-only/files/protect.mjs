import { chmodSync } from 'node:fs'

const isOff = process.argv[2] === 'off'
chmodSync('public/index.html', isOff ? 0o644 : 0o444)
console.log(`public/index.html ${isOff ? 'may be written' : 'is protected'}`)
