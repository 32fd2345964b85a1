import { projectCheckFile } from './callProject.ts'

/** Text of the task. The model knows nothing else about the work. */
export const longTask =
  `Every function in src takes one object now, but all calls still pass arguments by position. Fix each call, file by file; ` +
  `${projectCheckFile} checks the work.`

/** Returns true if a text asks for this work. */
export const isLongTask = (text: string): boolean => /\bpass arguments by position\b/.test(text)

export const longCheckCommand = `node ${projectCheckFile}`
