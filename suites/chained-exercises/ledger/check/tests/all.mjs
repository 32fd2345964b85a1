import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

for (const name of readdirSync(dirname(fileURLToPath(import.meta.url))).sort())
  if (name.endsWith('.test.mjs')) await import(`./${name}`)
