import { readFileSync, rmSync } from 'node:fs'

const { pid } = JSON.parse(readFileSync('build.lock', 'utf8'))
let isGone = false
try {
  process.kill(pid, 0)
} catch (error) {
  isGone = error.code === 'ESRCH'
}
if (!isGone) throw new Error(`process ${pid} is still there`)
rmSync('build.lock')
console.log(`process ${pid} is gone: its lock is removed`)
