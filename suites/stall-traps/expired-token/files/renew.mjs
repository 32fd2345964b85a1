import { writeFileSync } from 'node:fs'

// Tokens are good for a year.
const expires = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10)
writeFileSync('token.json', `${JSON.stringify({ token: 'b-18', expires })}\n`)
console.log(`token.json is good until ${expires}`)
