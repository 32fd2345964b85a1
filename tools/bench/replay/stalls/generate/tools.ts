import type { ToolSpec } from '../../../../../src/index.ts'
import { tool } from '../../generate/toolSpec.ts'

/** The tools of made-up runs. `build_state` declares that it polls; `job_state` should, and does not. */
export const tools: readonly ToolSpec[] = [
  tool('read_file', 'Reads a file of the project, or some lines of it.', 'path'),
  tool('search', 'Lists the lines that match a pattern, with their files.', 'pattern'),
  tool('edit_file', 'Replaces a text that stands once in a file.', 'path', 'old', 'new'),
  tool('run_command', 'Runs a shell command and gives its output.', 'command'),
  tool('list_orders', 'Lists orders, a page at a time.', 'status', 'page'),
  tool('next_page', 'Gives the next page of the last list.'),
  tool('build_state', 'Whether the build is done.', 'id'),
  tool('job_state', 'Whether the job is done.', 'id'),
  tool('fetch_url', 'Gets a page.', 'url'),
  tool('convert', 'Converts a file.', 'path'),
]
