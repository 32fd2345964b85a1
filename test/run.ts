import { join } from 'node:path'
import { runTests } from './support/runner.ts'

await runTests(join(import.meta.dirname, '..'), process.argv.slice(2))
