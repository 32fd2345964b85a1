import { z } from 'zod'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import type { AnyTool } from '../../../../../src/actors/tools/defineTool.ts'
import { type Clock, systemClock } from '../../../../../src/protocol/ports/clock.ts'
import { runProgram } from './runProgram.ts'

const path = z.string().regex(/^[\w.-]+$/, 'the folder has only files, named by letters, digits, ".", "_" and "-"')
const longestMs = 60_000

/** Tools for a folder in memory, with the names and inputs that the tools for a folder on a disk have. Commands run JavaScript in a worker. */
export function folderTools(files: Map<string, string>, clock: Clock = systemClock): readonly AnyTool[] {
  return [
    defineTool({
      name: 'read_file',
      description: 'Read a text file of the folder.',
      input: z.object({ path }),
      effects: 'none',
      run: ({ path: name }) => {
        const text = files.get(name)
        if (text === undefined) throw new Error(`There is no ${name}. There are: ${[...files.keys()].join(', ')}.`)
        return text
      },
    }),
    defineTool({
      name: 'write_file',
      description: 'Create a text file in the folder, or replace all of one.',
      input: z.object({ path, content: z.string() }),
      effects: 'idempotent',
      run: ({ path: name, content }, context) => {
        const isNew = !files.has(name)
        files.set(name, content)
        context.changed(name)
        return `${isNew ? 'Created' : 'Replaced'} ${name}: ${content.length} characters, ${content.trimEnd().split('\n').length} lines.`
      },
    }),
    defineTool({
      name: 'run_command',
      description: 'Run "node <file> <arguments>" in the folder. It is stopped after timeoutMs.',
      input: z.object({ command: z.string(), timeoutMs: z.int().positive().max(longestMs).optional() }),
      effects: 'none',
      timeoutMs: longestMs + 1_000,
      run: async ({ command, timeoutMs = longestMs }, { signal, report }) => {
        const [node, program, ...args] = command.trim().split(/\s+/)
        if (node !== 'node' || program === undefined) throw new Error('Here only "node <file> <arguments>" can be run.')
        const { how, text } = await runProgram(files, program, { args, timeoutMs, signal, clock, onText: report })
        if (how === 'done') return text
        throw new Error(
          `${text}${how === 'failed' ? '[exit code 1]' : `[timed out: stopped by the limit of ${timeoutMs} ms]`}`,
        )
      },
    }),
  ]
}
