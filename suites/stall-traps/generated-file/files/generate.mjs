import { readFileSync, writeFileSync } from 'node:fs'

// src/messages.mjs is made from messages.txt: whatever is changed there by hand is lost.
const lines = readFileSync('messages.txt', 'utf8').trim().split('\n')
const constants = lines.map((line) => line.split('=')).map(([name, text]) => `export const ${name} = '${text}'\n`)
writeFileSync('src/messages.mjs', constants.join(''))
