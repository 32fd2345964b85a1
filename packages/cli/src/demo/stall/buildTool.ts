import { execFile } from 'node:child_process'
import { defineTool, type Tool } from '../../../../../src/actors/tools/defineTool.ts'
import type { Workshop } from '../workshop.ts'
import { buildFile } from './lockedProject.ts'

/**
 * Builds the project. The tool declares that repeating a build is harmless, so its steps may be taken back; `run_command` cannot declare this for
 * every command.
 */
export const buildTool = ({ dir, env }: Pick<Workshop, 'dir' | 'env'>): Tool =>
  defineTool({
    name: 'build',
    description: 'Builds the project.',
    input: { jsonSchema: { type: 'object', properties: {}, additionalProperties: false } },
    effects: 'idempotent',
    run: (_, { signal, changed }) =>
      new Promise((resolve, reject) => {
        const options = { cwd: dir, env: { ...process.env, ...env }, signal }
        execFile(process.execPath, [buildFile], options, (error, stdout, stderr) => {
          if (error !== null) return reject(new Error(stderr.trim() === '' ? error.message : stderr.trim()))
          changed('dist/prices.json')
          resolve(stdout)
        })
      }),
  })
