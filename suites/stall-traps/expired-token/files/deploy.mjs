import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'

const { expires } = JSON.parse(readFileSync('token.json', 'utf8'))
if (Date.parse(expires) < Date.now()) {
  console.error('401 unauthorized')
  process.exit(1)
}
mkdirSync('staging', { recursive: true })
copyFileSync('release.json', 'staging/release.json')
console.log('deployed to staging')
