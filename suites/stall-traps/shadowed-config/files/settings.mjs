import { existsSync, readFileSync } from 'node:fs'

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {})

/** The settings in force: those of this checkout come last. */
export const settings = { ...read('config/default.json'), ...read('.servicerc.json') }
