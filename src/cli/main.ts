#!/usr/bin/env node
import { wrongNode } from './nodeVersion.ts'

const wrong = wrongNode(process.versions.node)
if (wrong === undefined) {
  // An older Node may fail to load the rest.
  const { runCli } = await import('./runCli.ts')
  process.exitCode = await runCli(process.argv.slice(2), process)
} else {
  process.stderr.write(`escapement: ${wrong}\n`)
  process.exitCode = 1
}
