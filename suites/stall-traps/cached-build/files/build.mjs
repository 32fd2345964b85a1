import { readFileSync, writeFileSync } from 'node:fs'

const version = '2.1.0'
// Whatever this version has built once is there already. --no-cache builds it all the same.
const { builtBy } = JSON.parse(readFileSync('cache.json', 'utf8'))
if (builtBy === version && !process.argv.includes('--no-cache')) {
  console.log('site/index.html is up to date')
} else {
  const title = readFileSync('title.txt', 'utf8').trim()
  writeFileSync('site/index.html', `<!doctype html>\n<title>${title}</title>\n<h1>${title}</h1>\n`)
  writeFileSync('cache.json', `${JSON.stringify({ builtBy: version })}\n`)
  console.log('site/index.html built')
}
