process.on('SIGTERM', () => process.exit(3));
setInterval(() => undefined, 1000);
console.log(`hello ${process.argv[2]} ${process.env['MOOD']}`);
console.error(process.cwd());
